// Batch normalization (Ioffe and Szegedy, 2015).
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

// gamma · (x − mean) / √(variance + epsilon) + beta per channel (the last
// axis), with gamma if `scale` and beta if `center`.
//
// In training, mean and (biased) variance are those of the replica's batch; if
// `synchronized`, those of the batches of all replicas in the step. The moving
// statistics become moving · momentum + batch · (1 − momentum). Each replica
// computes the delta that this makes (see VariableUpdate), so that the moving
// statistics are averages over the replicas, weighted by examples. In
// evaluation, and if the layer is frozen, mean and variance are the moving
// ones.
//
// Under a mask, in training, mean and variance are those of the steps that
// count, Σ / (count + 1e-7), always of the replica's own batch: Keras does not
// synchronize them either. All steps are normalized by them.
//
// If workers push asynchronously, each batch moves the server's statistics by
// the same formula (moving_statistics.h). A negative variance, which a
// checkpoint may contain, is treated as 0.
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
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;
  bool has_mask_argument() const override { return true; }
  bool reads_masks() const override { return trainable; }

  // In Keras' counting: the batch is axis 0; negative from the end.
  int64_t axis = -1;
  double momentum = 0.99;
  std::shared_ptr<const Initializer> moving_mean_initializer =
      ZerosInitializer();
  std::shared_ptr<const Initializer> moving_variance_initializer =
      OnesInitializer();
  bool synchronized = false;

 private:
  LoweredLayer LowerMasked(const LayerCall& call, const op::Tensor& mask) const;
};

// Whether training synchronizes the node's statistics.
bool SynchronizesStatistics(const Node& node);

// The channels of each such node, in the order of forward. Such a node
// all-reduces 1 + 2 · channels numbers in forward, and 2 · channels in
// backward.
std::vector<int64_t> SynchronizedChannels(const Graph& graph);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_BATCH_NORMALIZATION_H_
