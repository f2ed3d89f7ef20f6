// Evaluates functions of operations on the reference device, and their
// gradients.
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

// A function of floating-point tensors with one result.
struct OperationCase {
  std::string name;
  std::vector<Shape> inputs;
  std::function<op::Tensor(absl::Span<const op::Tensor>)> make;
  // The range [low, high) of input elements.
  double low = -1;
  double high = 1;
};

// Converts float32 or float64 elements.
std::vector<double> ValuesOf(const reference::Array& array);
reference::Array RealArray(DataType type, const Shape& shape,
                           absl::Span<const double> values);

// Returns the same inputs in each call.
std::vector<std::vector<double>> SomeInputs(const OperationCase& each);

// Evaluates the output for these inputs in float32 or float64.
reference::Array Output(const OperationCase& each, DataType type,
                        const std::vector<std::vector<double>>& inputs,
                        const reference::StepContext& step = {});

// The same, in float64.
std::vector<double> Values(const OperationCase& each,
                           const std::vector<std::vector<double>>& inputs,
                           const reference::StepContext& step = {});

// The gradients of Σ weights · output with respect to each input; `weights` has
// one element per output element.
std::vector<std::vector<double>> GradientsOf(
    const OperationCase& each, DataType type,
    const std::vector<std::vector<double>>& inputs,
    const std::vector<double>& weights,
    const reference::StepContext& step = {});

// (4, 3) times (3, 5), plus a bias.
OperationCase BiasedProduct();
// Images (2, 5, 4, 4) with 6 filters (3, 2), strides, padding, and a bias.
OperationCase BiasedConvolution(int64_t groups);

// Expects that the gradients in float64 equal finite differences, and that
// values and gradients in float32 are close to those in float64.
void ExpectGradients(const OperationCase& each);

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_OPERATION_FIXTURE_H_
