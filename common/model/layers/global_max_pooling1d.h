// Largest element of a sequence over its steps.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GLOBAL_MAX_POOLING1D_H_
#define PACELINE_COMMON_MODEL_LAYERS_GLOBAL_MAX_POOLING1D_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/layers/global_pooling.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (steps, channels) to (channels); see GlobalPooling. Equal elements share the
// gradient.
class GlobalMaxPooling1D : public GlobalPooling {
 public:
  static constexpr char kClassName[] = "GlobalMaxPooling1D";
  static const FieldTable<GlobalMaxPooling1D>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  absl::Status CheckInput(const Shape& input) const override;
  op::Tensor Reduced(const LayerCall& call,
                     std::vector<int> axes) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GLOBAL_MAX_POOLING1D_H_
