#include "common/job/job_plan.h"

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/optimizer/make_optimizer.h"
#include "common/strategy/strategy_traits.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// A variable that may not be cut travels in one call.
absl::Status CheckFitsCall(absl::Span<const VariableSpec> variables,
                           int bytes_per_element, absl::string_view optimizer) {
  for (const VariableSpec& variable : variables) {
    const int64_t bytes = NumElements(variable.shape) * bytes_per_element;
    if (MayCut(variable, Cutting::kUntrained) ||
        bytes <= limits::kMaxWholeVariableBytes) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "variable ", variable.name, " has ", bytes, " bytes; ", optimizer,
        " updates whole variables, of which parameter servers take at most ",
        limits::kMaxWholeVariableBytes, " bytes each"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShardPlan> MakeJobPlan(const v1::Job& job,
                                      absl::Span<const VariableSpec> variables,
                                      int shard_count, int bytes_per_element) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeOptimizer(job.optimizer()));
  Cutting cutting = Cutting::kAll;
  if (optimizer->updates_whole_variables()) {
    cutting = Cutting::kUntrained;
    const StrategyTraits* const strategy = FindStrategy(job.strategy());
    if (strategy != nullptr && strategy->has_parameter_servers()) {
      RETURN_IF_ERROR(
          CheckFitsCall(variables, bytes_per_element, optimizer->class_name()));
    }
  }
  return ShardPlan::Make(variables, shard_count, job.partitioner(),
                         bytes_per_element, cutting);
}

}  // namespace paceline
