// The base of layers that drop whole channels at random.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SPATIAL_DROPOUT_H_
#define PACELINE_COMMON_MODEL_LAYERS_SPATIAL_DROPOUT_H_

#include <vector>

#include "common/model/keras_fields.h"
#include "common/model/layers/dropout_layer.h"
#include "common/tensor/shape.h"

namespace paceline {

class SpatialDropout : public DropoutLayer {
 protected:
  // One number for each channel (the last axis) of an example.
  Shape MaskShape(const Shape& input) const override {
    Shape shape(input.size(), 1);
    shape.front() = input.front();
    shape.back() = input.back();
    return shape;
  }
};

// The fields that all have. Keras does not write `trainable`.
template <typename L>
std::vector<Field<L>> SpatialDropoutFields() {
  return {RateField<L>(), SeedField<L>(),
          Optional("name", &Layer::name, "Unique in the model."), DtypeField()};
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SPATIAL_DROPOUT_H_
