// Maximum over each window of a sequence. Padding counts as -infinity; the
// gradient goes to the first of equal elements.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING1D_H_
#define PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING1D_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/pooling_layer.h"
#include "common/operations/function.h"
#include "common/operations/window_axis.h"

namespace paceline {

// See PoolingLayer.
class MaxPooling1D : public PoolingLayer<1> {
 public:
  static constexpr char kClassName[] = "MaxPooling1D";
  static const FieldTable<MaxPooling1D>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  op::Tensor Pooled(const op::Tensor& images,
                    const op::Window2D& window) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING1D_H_
