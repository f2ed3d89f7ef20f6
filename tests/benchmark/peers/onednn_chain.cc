#include "tests/benchmark/peers/onednn_chain.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/base/simd.h"

namespace paceline::peers {
namespace {

using dnnl::memory;
using Format = memory::format_tag;

constexpr int64_t kBatch = OnednnChain::kBatchSize;
constexpr int64_t kFilters = 32;
constexpr int64_t kFlat = 13 * 13 * kFilters;
constexpr int64_t kUnits = 64;
constexpr int64_t kClasses = 10;

memory::desc Layout(const memory::dims& dims, Format format) {
  return {dims, memory::data_type::f32, format};
}

float* Floats(const memory& memory) {
  return static_cast<float*>(memory.get_data_handle());
}

dnnl::primitive_attr WithRelu() {
  dnnl::post_ops relu;
  relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(relu);
  return attributes;
}

// Returns the mean loss of the batch; writes its gradient.
float CrossEntropy(const float* logits, const int32_t* labels,
                   float* gradients) {
  float loss = 0;
  for (int64_t example = 0; example < kBatch; ++example) {
    const float* const row = logits + example * kClasses;
    float* const gradient = gradients + example * kClasses;
    const float largest = *std::max_element(row, row + kClasses);
    float sum = 0;
    for (int64_t i = 0; i < kClasses; ++i) {
      gradient[i] = std::exp(row[i] - largest);
      sum += gradient[i];
    }
    loss += std::log(sum) + largest - row[labels[example]];
    for (int64_t i = 0; i < kClasses; ++i) gradient[i] /= sum * kBatch;
    gradient[labels[example]] -= 1.0f / kBatch;
  }
  return loss / kBatch;
}

constexpr float kLearningRate = 0.001f;
constexpr float kBeta1 = 0.9f;
constexpr float kBeta2 = 0.999f;
constexpr float kEpsilon = 1e-7f;

}  // namespace

PACELINE_MULTIVERSION
void ChainAdam(float step_size, int64_t begin, int64_t end, float* values,
               const float* gradients, float* momentum, float* velocity) {
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const float gradient = gradients[i];
    momentum[i] += (gradient - momentum[i]) * (1 - kBeta1);
    velocity[i] += (gradient * gradient - velocity[i]) * (1 - kBeta2);
    values[i] -= step_size * momentum[i] / (std::sqrt(velocity[i]) + kEpsilon);
  }
}

OnednnChain::OnednnChain(ImageLayout layout)
    : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
  FlushDenormals();
  const Format format =
      layout == ImageLayout::kAny ? Format::any : Format::nhwc;
  AddConvolution(Layout({kBatch, 1, 28, 28}, format),
                 Layout({kBatch, kFilters, 26, 26}, format));
  AddPooling();
  AddDense();
  std::reverse(backward_.begin(), backward_.end());
}

OnednnChain::Parameter& OnednnChain::AddParameter(const Memory::desc& layout,
                                                  float scale) {
  Parameter& parameter = parameters_.emplace_back();
  parameter.value = Memory(layout, engine_);
  parameter.gradient = Memory(layout, engine_);
  const size_t count = layout.get_size() / sizeof(float);
  parameter.momentum.resize(count);
  parameter.velocity.resize(count);
  std::minstd_rand random(static_cast<unsigned>(parameters_.size()));
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::generate_n(Floats(parameter.value), count,
                  [&] { return uniform(random); });
  return parameter;
}

// Convolution with bias and rectifier. oneDNN chooses the layout of the kernel,
// and the layouts of images and result if they are "any". For images of one
// channel all its choices are the same layout.
void OnednnChain::AddConvolution(const Memory::desc& images,
                                 const Memory::desc& result) {
  const auto kernel_any = Layout({kFilters, 1, 3, 3}, Format::any);
  const auto bias_layout = Layout({kFilters}, Format::x);
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training,
       dnnl::algorithm::convolution_direct,
       images,
       kernel_any,
       bias_layout,
       result,
       {1, 1},
       {0, 0},
       {0, 0}},
      WithRelu(), engine_);
  Parameter& kernel = AddParameter(forward.weights_desc(), 0.14f);
  Parameter& bias = AddParameter(bias_layout, 0);
  const Memory& source = images_.emplace_back(forward.src_desc(), engine_);
  features_ = Memory(forward.dst_desc(), engine_);
  features_gradient_ = Memory(forward.dst_desc(), engine_);
  forward_.push_back({dnnl::convolution_forward(forward),
                      {{DNNL_ARG_SRC, source},
                       {DNNL_ARG_WEIGHTS, kernel.value},
                       {DNNL_ARG_BIAS, bias.value},
                       {DNNL_ARG_DST, features_}}});

  const dnnl::convolution_backward_weights::primitive_desc backward(
      {dnnl::algorithm::convolution_direct,
       images,
       kernel_any,
       bias_layout,
       forward.dst_desc(),
       {1, 1},
       {0, 0},
       {0, 0}},
      engine_, forward);
  const Memory& backward_source =
      images_.emplace_back(backward.src_desc(), engine_);
  Memory kernel_gradient = kernel.gradient;
  if (backward.diff_weights_desc() != forward.weights_desc()) {
    kernel_gradient = Memory(backward.diff_weights_desc(), engine_);
    backward_.push_back(
        {dnnl::reorder(kernel_gradient, kernel.gradient),
         {{DNNL_ARG_FROM, kernel_gradient}, {DNNL_ARG_TO, kernel.gradient}}});
  }
  backward_.push_back({dnnl::convolution_backward_weights(backward),
                       {{DNNL_ARG_SRC, backward_source},
                        {DNNL_ARG_DIFF_DST, features_gradient_},
                        {DNNL_ARG_DIFF_WEIGHTS, kernel_gradient},
                        {DNNL_ARG_DIFF_BIAS, bias.gradient}}});

  // The rectifier's gradient, computed in place from its output.
  const dnnl::eltwise_forward::primitive_desc relu_forward(
      {dnnl::prop_kind::forward_training,
       dnnl::algorithm::eltwise_relu_use_dst_for_bwd, forward.dst_desc(), 0},
      engine_);
  const dnnl::eltwise_backward::primitive_desc relu(
      {dnnl::algorithm::eltwise_relu_use_dst_for_bwd, forward.dst_desc(),
       forward.dst_desc(), 0},
      engine_, relu_forward);
  backward_.push_back({dnnl::eltwise_backward(relu),
                       {{DNNL_ARG_DST, features_},
                        {DNNL_ARG_DIFF_DST, features_gradient_},
                        {DNNL_ARG_DIFF_SRC, features_gradient_}}});
}

// Pooling, and Flatten in Keras' order.
void OnednnChain::AddPooling() {
  const Memory::desc pooled_any =
      Layout({kBatch, kFilters, 13, 13}, Format::any);
  const dnnl::pooling_v2_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training,
       dnnl::algorithm::pooling_max,
       features_.get_desc(),
       pooled_any,
       {2, 2},
       {2, 2},
       {0, 0},
       {0, 0},
       {0, 0}},
      engine_);
  const dnnl::pooling_v2_backward::primitive_desc backward(
      {dnnl::algorithm::pooling_max,
       features_.get_desc(),
       forward.dst_desc(),
       {2, 2},
       {2, 2},
       {0, 0},
       {0, 0},
       {0, 0}},
      engine_, forward);
  const Memory::desc flat_images =
      Layout({kBatch, kFilters, 13, 13}, Format::nhwc);
  const Memory::desc flat = Layout({kBatch, kFlat}, Format::nc);
  flat_ = Memory(flat, engine_);
  flat_gradient_ = Memory(flat, engine_);
  const Memory workspace(forward.workspace_desc(), engine_);

  Memory pooled(flat_images, engine_, flat_.get_data_handle());
  Memory pooled_gradient(flat_images, engine_,
                         flat_gradient_.get_data_handle());
  const bool is_reordered = forward.dst_desc() != flat_images;
  const Memory flat_view = pooled;
  const Memory flat_gradient_view = pooled_gradient;
  if (is_reordered) {
    pooled = Memory(forward.dst_desc(), engine_);
    pooled_gradient = Memory(forward.dst_desc(), engine_);
  }
  forward_.push_back({dnnl::pooling_v2_forward(forward),
                      {{DNNL_ARG_SRC, features_},
                       {DNNL_ARG_DST, pooled},
                       {DNNL_ARG_WORKSPACE, workspace}}});
  backward_.push_back({dnnl::pooling_v2_backward(backward),
                       {{DNNL_ARG_DIFF_DST, pooled_gradient},
                        {DNNL_ARG_DIFF_SRC, features_gradient_},
                        {DNNL_ARG_WORKSPACE, workspace}}});
  if (is_reordered) {
    forward_.push_back({dnnl::reorder(pooled, flat_view),
                        {{DNNL_ARG_FROM, pooled}, {DNNL_ARG_TO, flat_view}}});
    backward_.push_back({dnnl::reorder(flat_gradient_view, pooled_gradient),
                         {{DNNL_ARG_FROM, flat_gradient_view},
                          {DNNL_ARG_TO, pooled_gradient}}});
  }
}

// Both dense layers; kernels are stored as (inputs, units).
void OnednnChain::AddDense() {
  Memory input = flat_;
  Memory input_gradient = flat_gradient_;
  for (const int64_t units : {kUnits, kClasses}) {
    const bool is_hidden = units == kUnits;
    const int64_t size = input.get_desc().dims()[1];
    const Memory::desc source = Layout({kBatch, size}, Format::nc);
    const Memory::desc weights = Layout({units, size}, Format::io);
    const Memory::desc bias_layout = Layout({units}, Format::x);
    const Memory::desc result = Layout({kBatch, units}, Format::nc);
    const dnnl::inner_product_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, source, weights, bias_layout,
         result},
        is_hidden ? WithRelu() : dnnl::primitive_attr(), engine_);
    const dnnl::inner_product_backward_weights::primitive_desc backward_weights(
        {source, weights, bias_layout, result}, engine_, forward);
    const dnnl::inner_product_backward_data::primitive_desc backward_data(
        {source, weights, result}, engine_, forward);
    Parameter& kernel = AddParameter(
        weights, std::sqrt(6.0f / static_cast<float>(size + units)));
    Parameter& bias = AddParameter(bias_layout, 0);
    const Memory output(result, engine_);
    const Memory output_gradient(result, engine_);

    forward_.push_back({dnnl::inner_product_forward(forward),
                        {{DNNL_ARG_SRC, input},
                         {DNNL_ARG_WEIGHTS, kernel.value},
                         {DNNL_ARG_BIAS, bias.value},
                         {DNNL_ARG_DST, output}}});
    backward_.push_back({dnnl::inner_product_backward_data(backward_data),
                         {{DNNL_ARG_DIFF_DST, output_gradient},
                          {DNNL_ARG_WEIGHTS, kernel.value},
                          {DNNL_ARG_DIFF_SRC, input_gradient}}});
    backward_.push_back({dnnl::inner_product_backward_weights(backward_weights),
                         {{DNNL_ARG_SRC, input},
                          {DNNL_ARG_DIFF_DST, output_gradient},
                          {DNNL_ARG_DIFF_WEIGHTS, kernel.gradient},
                          {DNNL_ARG_DIFF_BIAS, bias.gradient}}});
    if (is_hidden) {
      const dnnl::eltwise_forward::primitive_desc relu_forward(
          {dnnl::prop_kind::forward_training,
           dnnl::algorithm::eltwise_relu_use_dst_for_bwd, result, 0},
          engine_);
      const dnnl::eltwise_backward::primitive_desc relu(
          {dnnl::algorithm::eltwise_relu_use_dst_for_bwd, result, result, 0},
          engine_, relu_forward);
      backward_.push_back({dnnl::eltwise_backward(relu),
                           {{DNNL_ARG_DST, output},
                            {DNNL_ARG_DIFF_DST, output_gradient},
                            {DNNL_ARG_DIFF_SRC, output_gradient}}});
    }
    input = output;
    input_gradient = output_gradient;
  }
  logits_ = input;
  logits_gradient_ = input_gradient;
}

float OnednnChain::Step(const float* images, const int32_t* labels) {
  for (Memory& view : images_) {
    view.set_data_handle(const_cast<float*>(images));
  }
  for (Primitive& call : forward_) {
    call.primitive.execute(stream_, call.arguments);
  }
  const float loss =
      CrossEntropy(Floats(logits_), labels, Floats(logits_gradient_));
  for (Primitive& call : backward_) {
    call.primitive.execute(stream_, call.arguments);
  }
  Adam();
  return loss;
}

void OnednnChain::Adam() {
  const auto t = static_cast<float>(++step_count_);
  const float step_size = kLearningRate * std::sqrt(1 - std::pow(kBeta2, t)) /
                          (1 - std::pow(kBeta1, t));
  for (Parameter& parameter : parameters_) {
    const auto count = static_cast<int64_t>(parameter.momentum.size());
    constexpr int64_t kPart = 8192;
#pragma omp parallel for if (count > 4 * kPart)
    for (int64_t begin = 0; begin < count; begin += kPart) {
      ChainAdam(step_size, begin, std::min(begin + kPart, count),
                Floats(parameter.value), Floats(parameter.gradient),
                parameter.momentum.data(), parameter.velocity.data());
    }
  }
}

}  // namespace paceline::peers
