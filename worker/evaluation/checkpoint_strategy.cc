#include "worker/evaluation/checkpoint_strategy.h"

#include <utility>

#include "common/base/status_macros.h"
#include "worker/evaluation/read_variables.h"

namespace paceline {

absl::StatusOr<std::unique_ptr<Strategy>> CheckpointStrategy::Open(
    const std::string& folder, const Graph& graph, const BucketLayout& layout,
    ModelState& state, Stream& stream) {
  ASSIGN_OR_RETURN(std::unique_ptr<CheckpointReader> reader,
                   CheckpointReader::Open(folder));
  RETURN_IF_ERROR(reader->CheckFits(graph.variables, {}));
  return std::unique_ptr<Strategy>(
      new CheckpointStrategy(std::move(reader), graph, layout, state, stream));
}

CheckpointStrategy::CheckpointStrategy(std::unique_ptr<CheckpointReader> reader,
                                       const Graph& graph,
                                       const BucketLayout& layout,
                                       ModelState& state, Stream& stream)
    : reader_(std::move(reader)),
      graph_(graph),
      layout_(layout),
      state_(state),
      stream_(stream) {}

absl::Status CheckpointStrategy::PullVariables() {
  return state_.type() == DataType::kFloat64 ? ReadVariables<double>()
                                             : ReadVariables<float>();
}

template <typename T>
absl::Status CheckpointStrategy::ReadVariables() {
  return paceline::ReadVariables<T>(
      graph_, layout_, state_, stream_,
      [this](int variable, absl::Span<T> values) {
        return reader_->Read(graph_.variables[variable].name, /*slot=*/"",
                             /*begin=*/0, values);
      });
}

namespace {

absl::Status NotTrainable() {
  return absl::FailedPreconditionError(
      "the variables of a checkpoint can only be evaluated");
}

}  // namespace

absl::Status CheckpointStrategy::BeginLease(
    std::optional<double> /*learning_rate*/) {
  return NotTrainable();
}

absl::Status CheckpointStrategy::GradientsReady(int /*bucket*/) {
  return NotTrainable();
}

absl::StatusOr<int64_t> CheckpointStrategy::EndStep(
    const v1::Progress& /*progress*/) {
  return absl::FailedPreconditionError(
      "the variables of a checkpoint can only be evaluated");
}

}  // namespace paceline
