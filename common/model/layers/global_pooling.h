// The base of layers that reduce all positions of a sequence or an image.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GLOBAL_POOLING_H_
#define PACELINE_COMMON_MODEL_LAYERS_GLOBAL_POOLING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// (positions..., channels) to (channels), or (1..., channels) with keepdims.
class GlobalPooling : public Layer {
 public:
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  bool keepdims = false;

 protected:
  // InvalidArgument unless an input has the rank that the layer pools.
  virtual absl::Status CheckInput(const Shape& input) const = 0;
  // Reduces axes of the input, which stay with size 1.
  virtual op::Tensor Reduced(const LayerCall& call,
                             std::vector<int> axes) const = 0;
};

// `inputs`: "images".
template <typename L>
std::vector<Field<L>> GlobalPoolingFields(const std::string& inputs) {
  return LayerFields<L>(
      {Only("data_format", "channels_last", "Layout of " + inputs + "."),
       Optional("keepdims", &L::keepdims,
                "Whether the reduced axes stay, as 1.")});
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GLOBAL_POOLING_H_
