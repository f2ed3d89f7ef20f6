// Mean over each window of an image, without padding.
#ifndef PACELINE_COMMON_MODEL_LAYERS_AVERAGE_POOLING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_AVERAGE_POOLING2D_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/pooling_layer.h"
#include "common/operations/function.h"
#include "common/operations/window_axis.h"

namespace paceline {

// See PoolingLayer.
class AveragePooling2D : public PoolingLayer<2> {
 public:
  static constexpr char kClassName[] = "AveragePooling2D";
  static const FieldTable<AveragePooling2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  op::Tensor Pooled(const op::Tensor& images,
                    const op::Window2D& window) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_AVERAGE_POOLING2D_H_
