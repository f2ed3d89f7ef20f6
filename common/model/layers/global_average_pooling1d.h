// Mean of a sequence over its steps.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING1D_H_
#define PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING1D_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/layers/global_pooling.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (steps, channels) to (channels); see GlobalPooling. With a mask, over the
// steps that it does not exclude; NaN if it excludes all, as in Keras.
class GlobalAveragePooling1D : public GlobalPooling {
 public:
  static constexpr char kClassName[] = "GlobalAveragePooling1D";
  static const FieldTable<GlobalAveragePooling1D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;
  bool reads_masks() const override { return true; }
  bool has_mask_argument() const override { return true; }

 protected:
  absl::Status CheckInput(const Shape& input) const override;
  op::Tensor Reduced(const LayerCall& call,
                     std::vector<int> axes) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING1D_H_
