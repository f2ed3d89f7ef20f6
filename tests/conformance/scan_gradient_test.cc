// Gradients of scans with matrix products in their bodies, against finite
// differences on the reference device; and which gradients of constants are one
// product over all steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/concatenate.h"
#include "common/operations/iota.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reshape.h"
#include "common/operations/scan.h"
#include "tests/conformance/operation_fixture.h"
#include "tests/conformance/rewrite_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

using Tensors = absl::Span<const op::Tensor>;

// The results of a step, of a carry, an element of a sequence, and constants.
using StepFunction = std::function<std::vector<op::Tensor>(Tensors)>;

struct ScanGradientCase {
  OperationCase scan;
  // How many gradients of constants are products over all steps, and how many
  // the backward sums up.
  int product_count = 0;
  int sum_count = 0;
};

void PrintTo(const ScanGradientCase& each, std::ostream* stream) {
  *stream << each.scan.name;
}

// A scan's last carry and outputs, in a row.
op::Tensor ScanInARow(const op::ScanArguments& arguments,
                      const StepFunction& step) {
  auto body = std::make_shared<op::Function>();
  std::vector<op::Tensor> parameters;
  parameters.push_back(body->AddParameter(arguments.carries[0].type()));
  op::TensorType element = arguments.sequences[0].type();
  element.shape.erase(element.shape.begin());
  parameters.push_back(body->AddParameter(element));
  for (const op::Tensor& constant : arguments.constants) {
    parameters.push_back(body->AddParameter(constant.type()));
  }
  for (const op::Tensor& result : step(parameters)) body->AddResult(result);
  const op::ScanResults results = op::Scan(body, arguments);
  std::vector<op::Tensor> row;
  for (const auto* tensors : {&results.carries, &results.outputs}) {
    for (const op::Tensor& each : *tensors) {
      row.push_back(op::Reshape(each, {each.count()}));
    }
  }
  return op::Concatenate(row, 0);
}

// Inputs: the carry, the sequence, the constants.
OperationCase ScanOf(std::string name, std::vector<Shape> inputs,
                     StepFunction step, bool is_reversed = false) {
  return {std::move(name), std::move(inputs), [=](Tensors in) {
            const Tensors constants = in.subspan(2);
            return ScanInARow({{in[0]},
                               {in[1]},
                               {constants.begin(), constants.end()},
                               is_reversed},
                              step);
          }};
}

// (h, x, w, v) → tanh(x + h · w + x · v + h · vᵀ), h. The gradient of v is no
// product, since v is read twice.
ScanGradientCase RecurrentKernels(const std::string& name, int64_t length,
                                  bool is_reversed) {
  return {ScanOf(
              name, {{2, 3}, {length, 2, 3}, {3, 3}, {3, 3}},
              [](Tensors in) -> std::vector<op::Tensor> {
                const op::Tensor& h = in[0];
                const op::Tensor& x = in[1];
                const op::Tensor from_h = x + op::MatrixProduct(h, in[2]);
                const op::Tensor from_x = from_h + op::MatrixProduct(x, in[3]);
                return {
                    op::Tanh(from_x + op::MatrixProduct(h, in[3], false, true)),
                    h};
              },
              is_reversed),
          /*product_count=*/1, /*sum_count=*/1};
}

// (h, x, w, v) → h · w + x · v. The right operand of both gradients is the
// backward's carry.
ScanGradientCase LinearRecurrence(const std::string& name, int64_t length) {
  return {ScanOf(name, {{2, 4}, {length, 2, 3}, {4, 4}, {3, 4}},
                 [](Tensors in) -> std::vector<op::Tensor> {
                   const op::Tensor from_h = op::MatrixProduct(in[0], in[2]);
                   return {from_h + op::MatrixProduct(in[1], in[3])};
                 }),
          /*product_count=*/2, /*sum_count=*/0};
}

// (h, x, v) → tanh(h + x · v). The left operand is the sequence.
ScanGradientCase SequenceKernel() {
  return {ScanOf("SequenceKernel", {{2, 5}, {4, 2, 3}, {3, 5}},
                 [](Tensors in) -> std::vector<op::Tensor> {
                   return {op::Tanh(in[0] + op::MatrixProduct(in[1], in[2]))};
                 }),
          /*product_count=*/1, /*sum_count=*/0};
}

// (h, x, v) → tanh(h), x · v. The right operand is the output's gradient.
ScanGradientCase OutputKernel() {
  return {ScanOf("OutputKernel", {{2, 5}, {4, 2, 3}, {3, 4}},
                 [](Tensors in) -> std::vector<op::Tensor> {
                   return {op::Tanh(in[0]), op::MatrixProduct(in[1], in[2])};
                 }),
          /*product_count=*/1, /*sum_count=*/0};
}

// (h, x, b, n, w) → tanh(x + n ∘ (h · w) + b), where n are integers, which have
// no gradient.
ScanGradientCase IntegersBetweenConstants() {
  return {{"IntegersBetweenConstants",
           {{2, 3}, {4, 2, 3}, {3}, {3, 3}},
           [](Tensors in) {
             const op::Tensor integers =
                 op::Iota(in[0].function(), 3, DataType::kInt32);
             return ScanInARow(
                 {{in[0]}, {in[1]}, {in[2], integers, in[3]}},
                 [](Tensors in) -> std::vector<op::Tensor> {
                   const op::Tensor n = op::Cast(in[3], in[0].data_type());
                   const op::Tensor product = op::MatrixProduct(in[0], in[4]);
                   return {op::Tanh(in[1] + n * product + in[2])};
                 });
           }},
          /*product_count=*/1,
          /*sum_count=*/1};
}

// (h, x, w, v) → tanh(h + x + w · v). The gradients have the other constant as
// an operand, which does not change from step to step.
ScanGradientCase ProductOfConstants() {
  return {ScanOf("ProductOfConstants", {{2, 3}, {4, 2, 3}, {2, 5}, {5, 3}},
                 [](Tensors in) -> std::vector<op::Tensor> {
                   const op::Tensor product = op::MatrixProduct(in[2], in[3]);
                   return {op::Tanh(in[0] + in[1] + product)};
                 }),
          /*product_count=*/0, /*sum_count=*/2};
}

class ScanGradientTest : public ::testing::TestWithParam<ScanGradientCase> {};

TEST_P(ScanGradientTest, IsThatOfFiniteDifferences) {
  ExpectGradients(GetParam().scan);
}

TEST_P(ScanGradientTest, HasProductsBehindTheLoop) {
  const WithGradients whole(GetParam().scan);
  std::vector<int> carry_counts;
  int product_count = 0;
  for (const op::Call& call : whole.function.calls()) {
    if (call.operation->name() == op::ScanOperation::kName) {
      carry_counts.push_back(
          static_cast<const op::ScanOperation&>(*call.operation)
              .body()
              .carry_count);
    }
    product_count +=
        call.operation->name() == op::MatrixProductOperation::kName;
  }
  // The backward carries the gradient of the carry, and the sums.
  EXPECT_THAT(carry_counts, ElementsAre(1, 1 + GetParam().sum_count));
  EXPECT_EQ(product_count, GetParam().product_count);
}

INSTANTIATE_TEST_SUITE_P(
    , ScanGradientTest,
    ::testing::Values(RecurrentKernels("RecurrentKernels", 4, false),
                      RecurrentKernels("ReversedRecurrentKernels", 4, true),
                      RecurrentKernels("RecurrentKernelsOfOneStep", 1, false),
                      LinearRecurrence("LinearRecurrence", 4),
                      LinearRecurrence("LinearRecurrenceOfOneStep", 1),
                      SequenceKernel(), OutputKernel(),
                      IntegersBetweenConstants(), ProductOfConstants()),
    [](const auto& info) { return info.param.scan.name; });

}  // namespace
}  // namespace paceline
