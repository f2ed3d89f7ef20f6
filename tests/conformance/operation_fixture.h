// Functions of operations on the reference device: their values and gradients.
#ifndef PACELINE_TESTS_CONFORMANCE_OPERATION_FIXTURE_H_
#define PACELINE_TESTS_CONFORMANCE_OPERATION_FIXTURE_H_

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"
#include "worker/device/reference/array.h"
#include "worker/device/reference/evaluate.h"

namespace paceline {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A function of real tensors that gives one tensor.
struct OperationCase {
  std::string name;
  std::vector<Shape> inputs;
  std::function<op::Tensor(absl::Span<const op::Tensor>)> make;
  // Elements of the inputs are in [low, high).
  double low = -1;
  double high = 1;
};

// float32 or float64 elements.
std::vector<double> ValuesOf(const reference::Array& array);
reference::Array RealArray(DataType type, const Shape& shape,
                           absl::Span<const double> values);

// The same for each call.
std::vector<std::vector<double>> SomeInputs(const OperationCase& each);

// The output for these inputs, computed in float32 or float64.
reference::Array Output(const OperationCase& each, DataType type,
                        const std::vector<std::vector<double>>& inputs,
                        const reference::StepContext& step = {});

// The same, in float64.
std::vector<double> Values(const OperationCase& each,
                           const std::vector<std::vector<double>>& inputs,
                           const reference::StepContext& step = {});

// The gradients of Σ weights · output by each input, where `weights` has as
// many elements as the output.
std::vector<std::vector<double>> GradientsOf(
    const OperationCase& each, DataType type,
    const std::vector<std::vector<double>>& inputs,
    const std::vector<double>& weights,
    const reference::StepContext& step = {});

// (4, 3) by (3, 5), and a bias.
OperationCase BiasedProduct();
// Of images (2, 5, 4, 4) by 6 filters (3, 2), with strides and padding, and a
// bias.
OperationCase BiasedConvolution(int64_t groups);

// Asserts that the gradients in float64 are those of finite differences, and
// that values and gradients in float32 are near.
void ExpectGradients(const OperationCase& each);

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_OPERATION_FIXTURE_H_
