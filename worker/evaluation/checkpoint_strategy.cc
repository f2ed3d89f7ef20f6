#include "worker/evaluation/checkpoint_strategy.h"

#include <utility>

#include "common/base/status_macros.h"

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
  for (size_t i = 0; i < graph_.variables.size(); ++i) {
    const VariableSpec& variable = graph_.variables[i];
    const VariableLocation location = layout_.location(static_cast<int>(i));
    T* bucket =
        reinterpret_cast<T*>(state_.host_variables(location.bucket).data());
    RETURN_IF_ERROR(reader_->Read(
        variable.name, /*slot=*/"", /*begin=*/0,
        absl::MakeSpan(bucket + location.offset, NumElements(variable.shape))));
  }
  return UploadAll(layout_, state_, stream_);
}

absl::Status CheckpointStrategy::GradientsReady(int /*bucket*/) {
  return absl::FailedPreconditionError(
      "the variables of a checkpoint can only be evaluated");
}

absl::StatusOr<int64_t> CheckpointStrategy::EndStep(
    const v1::Progress& /*progress*/) {
  return absl::FailedPreconditionError(
      "the variables of a checkpoint can only be evaluated");
}

}  // namespace paceline
