#include "common/model/layers/zero_padding2d.h"

#include <algorithm>
#include <cstddef>

#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

int64_t BytesOf(const Tensor& tensor) {
  return static_cast<int64_t>(SizeOf(tensor.type));
}

// Works on rows of pixels, whatever type they are of.
class ZeroPadding2DComputation final : public LayerComputation {
 public:
  explicit ZeroPadding2DComputation(const Node& node) : node_(node) {
    const auto& layer = static_cast<const ZeroPadding2D&>(*node.layer);
    top_ = layer.padding[0][0];
    left_ = layer.padding[1][0];
  }

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    const int64_t height = input_shape_[1];
    const int64_t pixel = input_shape_[3] * BytesOf(*input);
    const int64_t size = input_shape_[2] * pixel;
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape), input->type);
    const int64_t padded_height = output->shape[1];
    const int64_t padded_size = output->shape[2] * pixel;
    const int64_t before = left_ * pixel;
    builder.AddParallel(
        {input, output}, output->shape[0] * padded_height,
        output->shape[2] * output->shape[3],
        [=, top = top_](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            std::byte* const to = output->data() + row * padded_size;
            const int64_t image = row / padded_height;
            const int64_t y = row % padded_height - top;
            if (y < 0 || y >= height) {
              std::fill_n(to, padded_size, std::byte{0});
              continue;
            }
            std::fill_n(to, before, std::byte{0});
            std::copy_n(input->data() + (image * height + y) * size, size,
                        to + before);
            std::fill(to + before + size, to + padded_size, std::byte{0});
          }
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    const Tensor* const from = output.tensor;
    Tensor* const gradient = builder.NewTensor(input_shape_, from->type);
    const int64_t pixel = input_shape_[3] * BytesOf(*from);
    const int64_t height = input_shape_[1];
    const int64_t size = input_shape_[2] * pixel;
    const int64_t padded_height = node_.output_shape[0];
    const int64_t padded_size = node_.output_shape[1] * pixel;
    const int64_t before = left_ * pixel;
    builder.AddParallel(
        {from, gradient}, input_shape_[0] * height,
        input_shape_[2] * input_shape_[3],
        [=, top = top_](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t padded_row =
                row / height * padded_height + top + row % height;
            std::copy_n(from->data() + padded_row * padded_size + before, size,
                        gradient->data() + row * size);
          }
        });
    return {gradient};
  }

 private:
  const Node& node_;
  int64_t top_;
  int64_t left_;
  Shape input_shape_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeZeroPadding2D(const Graph& /*graph*/,
                                                   const Node& node) {
  return std::make_unique<ZeroPadding2DComputation>(node);
}

}  // namespace paceline::cpu
