// The base of Conv1D and Conv2D.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GROUPED_CONVOLUTION_H_
#define PACELINE_COMMON_MODEL_LAYERS_GROUPED_CONVOLUTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/initializer.h"
#include "common/model/layers/convolution_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// activation(conv(input, kernel) + bias): (positions..., channels) to
// (positions'..., filters), with kernel (kernel_size..., channels / groups,
// filters) and bias (filters). As in Keras, this is a cross-correlation.
// Channels and filters are divided into `groups` of consecutive ones; a filter
// reads only the channels of its group.
template <size_t rank>
class GroupedConvolution : public ConvolutionLayer<rank> {
 public:
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t filters = 0;
  int64_t groups = 1;
  std::shared_ptr<const Initializer> kernel_initializer =
      DefaultKernelInitializer();
  Regularizer kernel_regularizer;
  Constraint kernel_constraint;
};

template <typename L>
std::vector<Field<L>> GroupedConvolutionFields() {
  return ConvolutionFields<L>(
      {Required("filters", &L::filters, AtLeast(1), "Channels of the output.")},
      {Optional("groups", &L::groups, AtLeast(1),
                "Groups of channels that are convolved apart.")},
      {{"kernel", "the kernel", &L::kernel_initializer, &L::kernel_regularizer,
        &L::kernel_constraint}});
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GROUPED_CONVOLUTION_H_
