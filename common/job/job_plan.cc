#include "common/job/job_plan.h"

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/job_model.h"
#include "common/limits.h"
#include "common/strategy/strategy_traits.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// A variable that may not be cut travels in a single call, and the parameter
// server must update it within the deadline of that call.
absl::Status CheckFitsCall(const VariableSpec& variable, int bytes_per_element,
                           const Optimizer& optimizer) {
  const int64_t bytes = NumElements(variable.shape) * bytes_per_element;
  if (bytes > limits::kMaxWholeVariableBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "variable ", variable.name, " has ", bytes, " bytes; ",
        variable.constraint.has_norms() ? variable.constraint.class_name
                                        : optimizer.class_name(),
        " updates it as a whole, and parameter servers take at most ",
        limits::kMaxWholeVariableBytes, " bytes of a whole variable"));
  }
  const double multiplications =
      optimizer.MultiplicationsOf({variable.name, variable.shape});
  if (multiplications > limits::kMaxUpdateMultiplications) {
    return absl::InvalidArgumentError(absl::StrCat(
        "variable ", variable.name, " of shape ", ShapeToString(variable.shape),
        ": an update by ", optimizer.class_name(), " takes ", multiplications,
        " multiplications; parameter servers do at most ",
        limits::kMaxUpdateMultiplications, " for an update"));
  }
  return absl::OkStatus();
}

}  // namespace

MayCut MayCutFor(const Optimizer& optimizer) {
  return [&optimizer](const VariableSpec& variable) {
    return !variable.is_trained() ||
           !optimizer.NeedsWhole({variable.name, variable.shape});
  };
}

absl::StatusOr<ShardPlan> MakeJobPlan(const v1::Job& job, const Graph& graph,
                                      int shard_count, int bytes_per_element) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeJobOptimizer(job, graph));
  const MayCut may_cut = MayCutFor(*optimizer);
  const StrategyTraits* const strategy = FindStrategy(job.strategy());
  if (strategy != nullptr && strategy->has_parameter_servers()) {
    for (const VariableSpec& variable : graph.variables) {
      if (may_cut(variable)) continue;
      RETURN_IF_ERROR(CheckFitsCall(variable, bytes_per_element, *optimizer));
    }
  }
  return ShardPlan::Make(graph.variables, shard_count, job.partitioner(),
                         bytes_per_element, may_cut);
}

}  // namespace paceline
