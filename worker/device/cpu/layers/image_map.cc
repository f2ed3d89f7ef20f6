#include "worker/device/cpu/layers/image_map.h"

#include <utility>

namespace paceline::cpu {

ImageMap::ImageMap(const Node& node, int64_t work, Function forward,
                   Function backward)
    : node_(node),
      work_(work),
      forward_(std::move(forward)),
      backward_(std::move(backward)) {}

Tensor* ImageMap::AddForward(Tensor* input, ProgramBuilder& builder) {
  input_shape_ = input->shape;
  return AddMap(forward_, input, builder.BatchShape(node_.output_shape),
                builder);
}

OutputGradient ImageMap::AddBackward(OutputGradient output, bool wants_input,
                                     ProgramBuilder& builder) {
  if (!wants_input) return {};
  return {AddMap(backward_, output.tensor, input_shape_, builder)};
}

Tensor* ImageMap::AddMap(const Function& function, const Tensor* from,
                         Shape to_shape, ProgramBuilder& builder) const {
  Tensor* const to = builder.NewTensor(std::move(to_shape));
  builder.AddParallel({from, to}, from->shape[0], work_,
                      [=](int64_t begin, int64_t end) {
                        function(begin, end, from->floats(), to->floats());
                      });
  return to;
}

}  // namespace paceline::cpu
