#include "tests/conformance/operation_fixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "common/model/initializers/sampling.h"
#include "common/model/philox.h"
#include "common/operations/binary_map.h"
#include "common/operations/convolution.h"
#include "common/operations/gradient.h"
#include "common/operations/matrix_product.h"

namespace paceline {
namespace {

using reference::Array;
using reference::StepContext;

std::vector<double> SomeValues(uint64_t key, int64_t count, double low,
                               double high) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(low + (high - low) * UniformSample(key, i));
  }
  return values;
}

std::vector<Array> RealArrays(DataType type, const std::vector<Shape>& shapes,
                              const std::vector<std::vector<double>>& values) {
  std::vector<Array> arrays;
  for (size_t i = 0; i < shapes.size(); ++i) {
    arrays.push_back(RealArray(type, shapes[i], values[i]));
  }
  return arrays;
}

std::vector<Array> Run(const op::Function& function,
                       const std::vector<Array>& arguments,
                       const StepContext& step) {
  std::vector<const Array*> pointers;
  for (const Array& argument : arguments) pointers.push_back(&argument);
  return reference::Evaluate(function, pointers, step);
}

std::vector<op::Tensor> AddParameters(op::Function& function, DataType type,
                                      const std::vector<Shape>& shapes) {
  std::vector<op::Tensor> parameters;
  for (const Shape& shape : shapes) {
    parameters.push_back(function.AddParameter({type, shape}));
  }
  return parameters;
}

double WeightedSum(const std::vector<double>& values,
                   const std::vector<double>& weights) {
  return std::inner_product(values.begin(), values.end(), weights.begin(), 0.0);
}

}  // namespace

std::vector<double> ValuesOf(const Array& array) {
  std::vector<double> values;
  reference::WithNumberType(array.data_type(), [&](auto zero) {
    const auto elements = array.values<decltype(zero)>();
    values.assign(elements.begin(), elements.end());
  });
  return values;
}

Array RealArray(DataType type, const Shape& shape,
                absl::Span<const double> values) {
  Array array({type, shape});
  CHECK_EQ(array.size(), static_cast<int64_t>(values.size()));
  reference::WithRealType(type, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); ++i) {
      array.values<T>()[i] = static_cast<T>(values[i]);
    }
  });
  return array;
}

std::vector<std::vector<double>> SomeInputs(const OperationCase& each) {
  std::vector<std::vector<double>> inputs;
  for (size_t i = 0; i < each.inputs.size(); ++i) {
    inputs.push_back(SomeValues(MixKey(StableHash(each.name), i),
                                NumElements(each.inputs[i]), each.low,
                                each.high));
  }
  return inputs;
}

Array Output(const OperationCase& each, DataType type,
             const std::vector<std::vector<double>>& inputs,
             const StepContext& step) {
  op::Function function;
  function.AddResult(each.make(AddParameters(function, type, each.inputs)));
  return Run(function, RealArrays(type, each.inputs, inputs), step)[0];
}

std::vector<double> Values(const OperationCase& each,
                           const std::vector<std::vector<double>>& inputs,
                           const reference::StepContext& step) {
  return ValuesOf(Output(each, DataType::kFloat64, inputs, step));
}

std::vector<std::vector<double>> GradientsOf(
    const OperationCase& each, DataType type,
    const std::vector<std::vector<double>>& inputs,
    const std::vector<double>& weights, const StepContext& step) {
  op::Function function;
  const std::vector<op::Tensor> parameters =
      AddParameters(function, type, each.inputs);
  const op::Tensor output = each.make(parameters);
  const op::Tensor output_gradient = function.AddParameter(output.type());
  const op::Gradients gradients =
      op::AddGradients({output}, {output_gradient}, parameters);
  for (const std::optional<op::Tensor>& gradient : gradients) {
    CHECK(gradient) << each.name << ": an input has no gradient";
    function.AddResult(*gradient);
  }
  std::vector<Array> arguments = RealArrays(type, each.inputs, inputs);
  arguments.push_back(RealArray(type, output.shape(), weights));
  std::vector<std::vector<double>> values;
  for (const Array& gradient : Run(function, arguments, step)) {
    values.push_back(ValuesOf(gradient));
  }
  return values;
}

OperationCase BiasedProduct() {
  return {"biased_product", {{4, 3}, {3, 5}, {5}}, [](auto inputs) {
            const op::Tensor product = op::MatrixProduct(inputs[0], inputs[1]);
            return product + inputs[2];
          }};
}

OperationCase BiasedConvolution(int64_t groups) {
  return {"biased_convolution",
          {{2, 5, 4, 4}, {3, 2, 4 / groups, 6}, {6}},
          [groups](auto inputs) {
            const op::ConvolutionParameters parameters = {
                {{{.size = 3, .stride = 2, .pad_before = 1, .pad_after = 1},
                  {.size = 2}}},
                groups};
            const op::Tensor images =
                op::Convolution(inputs[0], inputs[1], parameters);
            return images + inputs[2];
          }};
}

void ExpectGradients(const OperationCase& each) {
  const std::vector<std::vector<double>> inputs = SomeInputs(each);
  const std::vector<double> output =
      ValuesOf(Output(each, DataType::kFloat64, inputs));
  const std::vector<double> weights = SomeValues(
      StableHash(each.name), static_cast<int64_t>(output.size()), 0.5, 1.5);
  const std::vector<std::vector<double>> gradients =
      GradientsOf(each, DataType::kFloat64, inputs, weights);
  constexpr double kStep = 1e-6;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t k = 0; k < inputs[i].size(); ++k) {
      const auto sum_at = [&](double value) {
        std::vector<std::vector<double>> moved = inputs;
        moved[i][k] = value;
        return WeightedSum(ValuesOf(Output(each, DataType::kFloat64, moved)),
                           weights);
      };
      const double difference =
          (sum_at(inputs[i][k] + kStep) - sum_at(inputs[i][k] - kStep)) /
          (2 * kStep);
      ASSERT_NEAR(gradients[i][k], difference,
                  1e-7 * (1 + std::abs(difference)))
          << "input " << i << ", element " << k;
    }
  }

  const std::vector<double> in_float32 =
      ValuesOf(Output(each, DataType::kFloat32, inputs));
  for (size_t k = 0; k < output.size(); ++k) {
    ASSERT_NEAR(in_float32[k], output[k], 1e-5 * (1 + std::abs(output[k])))
        << "element " << k;
  }
  const std::vector<std::vector<double>> gradients_in_float32 =
      GradientsOf(each, DataType::kFloat32, inputs, weights);
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t k = 0; k < inputs[i].size(); ++k) {
      ASSERT_NEAR(gradients_in_float32[i][k], gradients[i][k],
                  1e-4 * (1 + std::abs(gradients[i][k])))
          << "input " << i << ", element " << k;
    }
  }
}

}  // namespace paceline
