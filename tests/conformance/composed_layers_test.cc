// Keras layers composed of operations: the operations must suffice for them.
// Gradients are compared with finite differences, and the values of the LSTM
// with plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/operations/batch_moments.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/convolution.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/reverse.h"
#include "common/operations/scan.h"
#include "common/operations/slice.h"
#include "common/operations/softmax.h"
#include "common/operations/transpose.h"
#include "tests/conformance/operation_fixture.h"

namespace paceline {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;
using Tensors = absl::Span<const op::Tensor>;

// Multiplies x (..., size) by a kernel (size, units).
op::Tensor Dense(const op::Tensor& x, const op::Tensor& kernel) {
  const int64_t size = x.dimension(-1);
  Shape shape = x.shape();
  shape.back() = kernel.dimension(-1);
  return op::Reshape(
      op::MatrixProduct(op::Reshape(x, {x.count() / size, size}), kernel),
      shape);
}

// The columns of one gate; `gates` has `units` columns for each gate.
op::Tensor Gate(const op::Tensor& gates, int gate, int64_t units) {
  return op::SliceAxis(gates, -1, gate * units, units);
}

// LSTM: (batch, time, size) to (batch, time, units), with the kernels (size, 4
// · units) and (units, 4 · units) and a bias, in Keras' order i, f, c, o.
op::Tensor Lstm(const op::Tensor& x, const op::Tensor& kernel,
                const op::Tensor& recurrent_kernel, const op::Tensor& bias) {
  op::Function& function = x.function();
  const int64_t units = recurrent_kernel.dimension(0);
  const op::TensorType state = {x.data_type(), {x.dimension(0), units}};
  auto body = std::make_shared<op::Function>();
  const op::Tensor h = body->AddParameter(state);
  const op::Tensor c = body->AddParameter(state);
  const op::Tensor of_input =
      body->AddParameter({x.data_type(), {x.dimension(0), 4 * units}});
  const op::Tensor recurrent = body->AddParameter(recurrent_kernel.type());
  const op::Tensor gates = of_input + op::MatrixProduct(h, recurrent);
  const op::Tensor next_c =
      op::Sigmoid(Gate(gates, 1, units)) * c +
      op::Sigmoid(Gate(gates, 0, units)) * op::Tanh(Gate(gates, 2, units));
  const op::Tensor next_h =
      op::Sigmoid(Gate(gates, 3, units)) * op::Tanh(next_c);
  body->AddResult(next_h);
  body->AddResult(next_c);
  body->AddResult(next_h);
  const op::Tensor zeros = op::Full(function, state, 0);
  const op::ScanResults results =
      op::Scan(body, {{zeros, zeros},
                      {op::Transpose(Dense(x, kernel) + bias, {1, 0, 2})},
                      {recurrent_kernel}});
  return op::Transpose(results.outputs[0], {1, 0, 2});
}

OperationCase LstmCase() {
  return {"Lstm", {{2, 4, 3}, {3, 8}, {2, 8}, {8}}, [](Tensors in) {
            return Lstm(in[0], in[1], in[2], in[3]);
          }};
}

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

// The same LSTM by plain loops.
std::vector<double> LstmByLoops(const std::vector<std::vector<double>>& in) {
  constexpr int kBatch = 2;
  constexpr int kTime = 4;
  constexpr int kSize = 3;
  constexpr int kUnits = 2;
  std::vector<double> output;
  for (int b = 0; b < kBatch; ++b) {
    std::vector<double> h(kUnits);
    std::vector<double> c(kUnits);
    for (int t = 0; t < kTime; ++t) {
      std::vector<double> gates = in[3];
      for (int g = 0; g < 4 * kUnits; ++g) {
        for (int i = 0; i < kSize; ++i) {
          gates[g] +=
              in[0][(b * kTime + t) * kSize + i] * in[1][i * 4 * kUnits + g];
        }
        for (int u = 0; u < kUnits; ++u) {
          gates[g] += h[u] * in[2][u * 4 * kUnits + g];
        }
      }
      for (int u = 0; u < kUnits; ++u) {
        c[u] = SigmoidOf(gates[kUnits + u]) * c[u] +
               SigmoidOf(gates[u]) * std::tanh(gates[2 * kUnits + u]);
        h[u] = SigmoidOf(gates[3 * kUnits + u]) * std::tanh(c[u]);
      }
      output.insert(output.end(), h.begin(), h.end());
    }
  }
  return output;
}

// GRU with Keras' reset_after: kernels (size, 3 · units) and (units, 3 ·
// units), in the order z, r, h.
op::Tensor Gru(const op::Tensor& x, const op::Tensor& kernel,
               const op::Tensor& recurrent_kernel) {
  const int64_t units = recurrent_kernel.dimension(0);
  const op::TensorType state = {x.data_type(), {x.dimension(0), units}};
  auto body = std::make_shared<op::Function>();
  const op::Tensor h = body->AddParameter(state);
  const op::Tensor of_input =
      body->AddParameter({x.data_type(), {x.dimension(0), 3 * units}});
  const op::Tensor of_state =
      op::MatrixProduct(h, body->AddParameter(recurrent_kernel.type()));
  const auto sigmoid = [&](int gate) {
    return op::Sigmoid(Gate(of_input, gate, units) +
                       Gate(of_state, gate, units));
  };
  const op::Tensor z = sigmoid(0);
  const op::Tensor candidate = op::Tanh(Gate(of_input, 2, units) +
                                        sigmoid(1) * Gate(of_state, 2, units));
  body->AddResult(z * h + (1 - z) * candidate);
  return op::Scan(body, {{op::Full(x.function(), state, 0)},
                         {op::Transpose(Dense(x, kernel), {1, 0, 2})},
                         {recurrent_kernel}})
      .carries[0];
}

// Self-attention of (batch, time, size), with kernels (size, heads, key size)
// for query, key and value, and (heads, key size, size) back.
op::Tensor MultiHeadAttention(const op::Tensor& x, const op::Tensor& query,
                              const op::Tensor& key, const op::Tensor& value,
                              const op::Tensor& output) {
  const int64_t size = x.dimension(-1);
  const int64_t heads = query.dimension(1);
  const int64_t key_size = query.dimension(2);
  // (batch, heads, time, key size).
  const auto project = [&](const op::Tensor& kernel) {
    const op::Tensor projected =
        Dense(x, op::Reshape(kernel, {size, heads * key_size}));
    return op::Transpose(op::Reshape(projected, {x.dimension(0), x.dimension(1),
                                                 heads, key_size}),
                         {0, 2, 1, 3});
  };
  const op::Tensor scores =
      op::MatrixProduct(project(query), project(key), false, true) /
      std::sqrt(static_cast<double>(key_size));
  const op::Tensor heads_side_by_side = op::Transpose(
      op::MatrixProduct(op::Softmax(scores), project(value)), {0, 2, 1, 3});
  return Dense(op::Reshape(heads_side_by_side,
                           {x.dimension(0), x.dimension(1), heads * key_size}),
               op::Reshape(output, {heads * key_size, size}));
}

// Stride 2 and padding "same", so the output is twice as large as the input.
op::Tensor Conv2DTranspose(const op::Tensor& x, const op::Tensor& kernel) {
  const op::WindowAxis axis = {
      .size = 3, .stride = 2, .pad_before = 0, .pad_after = 1};
  return op::ConvolutionInputGradient(
      x, kernel, {{axis, axis}},
      {x.dimension(0), 2 * x.dimension(1), 2 * x.dimension(2),
       kernel.dimension(2)});
}

op::Tensor PRelu(const op::Tensor& x, const op::Tensor& alpha) {
  return op::Relu(x) - alpha * op::Relu(-x);
}

op::Tensor LayerNormalization(const op::Tensor& x, const op::Tensor& gamma,
                              const op::Tensor& beta) {
  const std::vector<int> last = {x.rank() - 1};
  const op::Tensor deviation = x - op::Mean(x, last);
  const op::Tensor variance = op::Mean(deviation * deviation, last);
  return deviation / op::Sqrt(variance + 1e-3) * gamma + beta;
}

std::vector<OperationCase> Layers() {
  return {
      LstmCase(),
      {"BidirectionalLstm",
       {{2, 3, 2}, {2, 8}, {2, 8}, {8}},
       [](Tensors in) {
         const op::Tensor back =
             op::Reverse(Lstm(op::Reverse(in[0], 1), in[1], in[2], in[3]), 1);
         return op::Concatenate({Lstm(in[0], in[1], in[2], in[3]), back}, -1);
       }},
      {"Gru",
       {{2, 4, 3}, {3, 6}, {2, 6}},
       [](Tensors in) { return Gru(in[0], in[1], in[2]); }},
      {"MultiHeadAttention",
       {{2, 3, 4}, {4, 2, 3}, {4, 2, 3}, {4, 2, 3}, {2, 3, 4}},
       [](Tensors in) {
         return MultiHeadAttention(in[0], in[1], in[2], in[3], in[4]);
       }},
      {"Conv2DTranspose",
       {{2, 2, 3, 4}, {3, 3, 2, 4}},
       [](Tensors in) { return Conv2DTranspose(in[0], in[1]); }},
      {"PRelu",
       {{2, 3, 4}, {3, 4}},
       [](Tensors in) { return PRelu(in[0], in[1]); }},
      {"LayerNormalization",
       {{2, 3, 4}, {4}, {4}},
       [](Tensors in) { return LayerNormalization(in[0], in[1], in[2]); }},
      {"BatchNormalization",
       {{2, 3, 3, 2}, {2}, {2}},
       [](Tensors in) {
         const op::Moments moments = op::BatchMoments(in[0], false);
         const DataType type = in[0].data_type();
         const op::Tensor mean = op::Cast(moments.mean, type);
         const op::Tensor variance = op::Cast(moments.variance, type);
         return (in[0] - mean) / op::Sqrt(variance + 1e-3) * in[1] + in[2];
       }},
      {"Gelu",
       {{3, 4}},
       [](Tensors in) {
         return in[0] * 0.5 * op::Erfc(in[0] * -std::sqrt(0.5));
       },
       -3,
       3},
  };
}

class ComposedLayerTest : public ::testing::TestWithParam<OperationCase> {};

TEST_P(ComposedLayerTest, HasTheGradientOfFiniteDifferences) {
  ExpectGradients(GetParam());
}

INSTANTIATE_TEST_SUITE_P(, ComposedLayerTest, ::testing::ValuesIn(Layers()),
                         [](const auto& info) { return info.param.name; });

TEST(LstmTest, IsThatOfPlainLoops) {
  const std::vector<std::vector<double>> inputs = SomeInputs(LstmCase());
  EXPECT_THAT(ValuesOf(Output(LstmCase(), DataType::kFloat64, inputs)),
              Pointwise(DoubleNear(1e-12), LstmByLoops(inputs)));
}

// The stride is as large as the kernel, so the kernels that the pixels scale do
// not overlap.
TEST(Conv2DTransposeTest, ShowsTheKernelAroundEachPixel) {
  const OperationCase each = {
      "", {{1, 1, 2, 1}, {1, 2, 1, 1}}, [](Tensors in) {
        const op::WindowAxis row;
        const op::WindowAxis column = {.size = 2, .stride = 2};
        return op::ConvolutionInputGradient(in[0], in[1], {{row, column}},
                                            {1, 1, 4, 1});
      }};
  EXPECT_THAT(ValuesOf(Output(each, DataType::kFloat64, {{1, 10}, {2, 3}})),
              ::testing::ElementsAre(2, 3, 20, 30));
}

}  // namespace
}  // namespace paceline
