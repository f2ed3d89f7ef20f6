// Maximum over each window of an image. Padding counts as -infinity; the
// gradient goes to the first of equal elements.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING2D_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/pooling_layer.h"
#include "common/operations/function.h"
#include "common/operations/window_axis.h"

namespace paceline {

// See PoolingLayer.
class MaxPooling2D : public PoolingLayer<2> {
 public:
  static constexpr char kClassName[] = "MaxPooling2D";
  static const FieldTable<MaxPooling2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  op::Tensor Pooled(const op::Tensor& images,
                    const op::Window2D& window) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING2D_H_
