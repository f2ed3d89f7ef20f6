// Sequences as images, for layers whose operations are those of images.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SEQUENCE_H_
#define PACELINE_COMMON_MODEL_LAYERS_SEQUENCE_H_

#include <cstddef>
#include <string>

#include "common/operations/function.h"
#include "common/operations/reshape.h"
#include "common/tensor/shape.h"

namespace paceline {

// `rank` is that of a layer: 2 for images (batch, height, width, channels), 1
// for sequences (batch, steps, channels), which are images of one row.

template <size_t rank>
op::Tensor ToImages(const op::Tensor& x) {
  if constexpr (rank == 2) return x;
  return op::Reshape(x, {x.dimension(0), 1, x.dimension(1), x.dimension(2)});
}

// The inverse.
template <size_t rank>
op::Tensor FromImages(const op::Tensor& images) {
  if constexpr (rank == 2) return images;
  return op::Reshape(
      images, {images.dimension(0), images.dimension(2), images.dimension(3)});
}

// The shape of a kernel (..., channels, filters) as that of images.
inline Shape ImageKernelShape(Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  return shape;
}

// For help texts.
template <size_t rank>
std::string InputsName() {
  return rank == 2 ? "images" : "sequences";
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SEQUENCE_H_
