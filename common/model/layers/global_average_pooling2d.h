// Mean of an image over height and width.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/layers/global_pooling.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (h, w, channels) to (channels); see GlobalPooling.
class GlobalAveragePooling2D : public GlobalPooling {
 public:
  static constexpr char kClassName[] = "GlobalAveragePooling2D";
  static const FieldTable<GlobalAveragePooling2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  absl::Status CheckInput(const Shape& input) const override;
  op::Tensor Reduced(const LayerCall& call,
                     std::vector<int> axes) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_
