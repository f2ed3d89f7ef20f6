// Convolution of sequences.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONV1D_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONV1D_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/grouped_convolution.h"

namespace paceline {

// See GroupedConvolution.
class Conv1D : public GroupedConvolution<1> {
 public:
  static constexpr char kClassName[] = "Conv1D";
  static const FieldTable<Conv1D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONV1D_H_
