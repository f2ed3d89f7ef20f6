// The base of layers that change elements at random.
#ifndef PACELINE_COMMON_MODEL_LAYERS_NOISE_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_NOISE_LAYER_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/config/field_table.h"
#include "common/model/layer.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// The key of the random numbers of a call of a layer: from its own seed if it
// has one, else from `job_seed`.
uint64_t NoiseKeyOf(const Layer& layer, std::optional<int64_t> seed,
                    uint64_t job_seed, int call);

// In evaluation the layer is the identity. Random numbers depend on the layer's
// name and seed, the number of the call, the epoch, and the example's position
// in it, so they are the same on any device and any replica.
class NoiseLayer : public Layer {
 public:
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }
  bool IsIdentity(bool is_training) const override {
    return !is_training || !has_noise();
  }

  uint64_t NoiseKey(uint64_t job_seed, int call) const {
    return NoiseKeyOf(*this, seed, job_seed, call);
  }

  // nullopt: the job's seed.
  std::optional<int64_t> seed;

 protected:
  // Whether training changes anything.
  virtual bool has_noise() const = 0;
  // The output in training.
  virtual op::Tensor Noised(const op::Tensor& x, uint64_t key) const = 0;
};

template <typename L>
Field<L> SeedField() {
  return Optional("seed", &L::seed, "Instead of the job's seed.");
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_NOISE_LAYER_H_
