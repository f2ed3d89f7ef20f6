// Softmax along an axis.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SOFTMAX_H_
#define PACELINE_COMMON_MODEL_LAYERS_SOFTMAX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;
template <typename E>
struct EnumName;

// exp(x) / Σ exp(x), computed with the largest x subtracted. If `mask_inputs`
// names a mask, that is the second input, whose axes may be 1; where it is not
// above 0.5, the output is 0, and x does not count in the sum.
class Softmax : public Layer {
 public:
  static constexpr char kClassName[] = "Softmax";
  static const FieldTable<Softmax>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  InputCount input_count() const override {
    return {1 + mask_inputs.size(), 1 + mask_inputs.size()};
  }
  std::vector<std::string> keyword_inputs() const override;
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  // As in Keras, the mask of a sequence does not fit.
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;
  bool has_mask_argument() const override { return true; }
  ActivationFunction final_activation() const override;

  // In Keras' counting: the batch is axis 0; negative from the end.
  int64_t axis = -1;
  // By hand, in Keras' calls.
  enum class MaskInput { kMask };
  std::vector<MaskInput> mask_inputs;
};

absl::Span<const EnumName<Softmax::MaskInput>> EnumNames(Softmax::MaskInput);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SOFTMAX_H_
