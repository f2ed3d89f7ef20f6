#include "common/model/layers/up_sampling2d.h"

#include <algorithm>

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

// Of one axis, as constants of the program.
struct AxisTensors {
  Tensor* blends = nullptr;
  // Of each input.
  Tensor* readers = nullptr;
};

AxisTensors MakeAxis(const UpSampling2D& layer, int axis, int64_t input,
                     ProgramBuilder& builder) {
  std::vector<AxisBlend> blends;
  std::vector<AxisReaders> readers;
  for (const BlendedElement& element : layer.Blend(axis, input)) {
    blends.push_back({element.lower, element.upper,
                      static_cast<float>(element.upper_share)});
  }
  const auto count = static_cast<int64_t>(blends.size());
  for (int64_t i = 0; i < input; ++i) readers.push_back({count, 0});
  for (int64_t output = 0; output < count; ++output) {
    for (const int64_t i : {blends[output].lower, blends[output].upper}) {
      readers[i].begin = std::min(readers[i].begin, output);
      readers[i].end = output + 1;
    }
  }
  return {builder.NewConstant(blends), builder.NewConstant(readers)};
}

class UpSampling2DComputation final : public LayerComputation {
 public:
  explicit UpSampling2DComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    const auto& layer = static_cast<const UpSampling2D&>(*node_.layer);
    input_shape_ = input->shape;
    rows_ = MakeAxis(layer, 0, input_shape_[1], builder);
    columns_ = MakeAxis(layer, 1, input_shape_[2], builder);
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    builder.AddKernel({input, output}, output->count(), [=, this_ = *this] {
      return BlendImages{this_.Geometry(), ValuesOf(input), ValuesOf(output)};
    });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddKernel({output.tensor, input_gradient}, input_gradient->count(),
                      [=, this_ = *this, gradient = output.tensor] {
                        return BlendImagesBackward{
                            this_.Geometry(),
                            this_.rows_.readers->as<AxisReaders>(),
                            this_.columns_.readers->as<AxisReaders>(),
                            ValuesOf(gradient), ValuesOf(input_gradient)};
                      });
    return {input_gradient};
  }

 private:
  // With addresses, as it is enqueued.
  BlendGeometry Geometry() const {
    return {.height = input_shape_[1],
            .width = input_shape_[2],
            .output_height = node_.output_shape[0],
            .output_width = node_.output_shape[1],
            .channels = input_shape_[3],
            .rows = rows_.blends->as<AxisBlend>(),
            .columns = columns_.blends->as<AxisBlend>()};
  }

  const Node& node_;
  Shape input_shape_;
  AxisTensors rows_;
  AxisTensors columns_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeUpSampling2D(const Graph& /*graph*/,
                                                  const Node& node) {
  return std::make_unique<UpSampling2DComputation>(node);
}

}  // namespace paceline::cuda
