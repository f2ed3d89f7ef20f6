// Common parts of tests of rewrites (common/operations/rewrites).
#ifndef PACELINE_TESTS_CONFORMANCE_REWRITE_FIXTURE_H_
#define PACELINE_TESTS_CONFORMANCE_REWRITE_FIXTURE_H_

#include <string>
#include <vector>

#include "common/operations/function.h"
#include "tests/conformance/operation_fixture.h"

namespace paceline {

// For a device that has every operation.
inline bool HasAll(const op::Operation& /*operation*/,
                   absl::Span<const op::TensorType> /*inputs*/) {
  return true;
}

// The names of the called operations.
std::vector<std::string> NamesOf(const op::Function& function);

// A function of float32 parameters. Its results are its output, and the
// gradients of that with respect to the parameters that have one.
struct WithGradients {
  explicit WithGradients(const OperationCase& each);

  op::Function function;
  std::vector<op::Tensor> parameters;
  op::Tensor output;
  op::Tensor output_gradient;
};

// Evaluates a function that was derived from `each`, for SomeInputs.
std::vector<std::vector<double>> ResultsOf(const op::Function& function,
                                           const OperationCase& each);

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_REWRITE_FIXTURE_H_
