// Normalization by the statistics of the batch.
#ifndef PACELINE_COMMON_MODEL_LAYERS_BATCH_NORMALIZATION_H_
#define PACELINE_COMMON_MODEL_LAYERS_BATCH_NORMALIZATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/initializer.h"
#include "common/model/layers/normalization_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// gamma · (x − mean) / √(variance + epsilon) + beta for each channel (the last
// axis), with gamma and beta if `scale` and `center`.
//
// In training mean and (biased) variance are those of the replica's batch, or,
// if `synchronized`, of the batches of all replicas of the step; and moving =
// moving · momentum + batch · (1 − momentum), which replicas hand over as a
// delta (see VariableUpdate), so that the moving statistics are the means over
// replicas, weighted by examples. Else, and if the layer is frozen, the moving
// ones.
//
// Of workers that push asynchronously each batch moves what the server has, by
// the same formula (moving_statistics.h). A variance below 0, as a checkpoint
// may have it, is taken for 0.
class BatchNormalization : public NormalizationLayer {
 public:
  static constexpr char kClassName[] = "BatchNormalization";
  static const FieldTable<BatchNormalization>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  // [gamma], [beta], moving_mean, moving_variance.
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // Counts the batch as axis 0, or from the end.
  int64_t axis = -1;
  double momentum = 0.99;
  std::shared_ptr<const Initializer> moving_mean_initializer =
      ZerosInitializer();
  std::shared_ptr<const Initializer> moving_variance_initializer =
      OnesInitializer();
  bool synchronized = false;
};

// The channels of each node that shares its statistics, in the order of
// forward. Such a node sums 1 + 2 · channels numbers over the replicas in
// forward, and 2 · channels in backward.
std::vector<int64_t> SynchronizedChannels(const Graph& graph);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_BATCH_NORMALIZATION_H_
