#include "common/model/layers/noise_layer.h"

#include "common/model/philox.h"
#include "common/model/repeated_call.h"

namespace paceline {

absl::StatusOr<Shape> NoiseLayer::OutputShape(
    absl::Span<const Shape> inputs) const {
  return inputs[0];
}

LoweredLayer NoiseLayer::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  return IsIdentity(call.is_training)
             ? x
             : Noised(x, NoiseKey(call.seed, call.call));
}

uint64_t NoiseKeyOf(const Layer& layer, std::optional<int64_t> seed,
                    uint64_t job_seed, int call) {
  const std::string stream =
      call == 0 ? layer.name : RepeatedCallName(layer.name, call);
  return PhiloxKey(
      {.seed = seed.has_value() ? static_cast<uint64_t>(*seed) : job_seed,
       .stream = StableHash(stream)});
}

}  // namespace paceline
