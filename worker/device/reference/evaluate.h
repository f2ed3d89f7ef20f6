// Evaluates functions of operations in plain loops. All devices are compared
// with this.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_EVALUATE_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_EVALUATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/function.h"
#include "worker/device/reference/array.h"

namespace paceline {
class StatisticsAllReduce;
}

namespace paceline::reference {

struct Evaluation;

// Computes the outputs of a call. `operation` has the class in the C++
// function's name.
using EvaluateOperation = void(const op::Operation& operation,
                               const Evaluation& evaluation);

// What functions depend on besides their arguments: the current step.
struct StepContext {
  // Position of the first example in the epoch's order; the others are
  // consecutive.
  int64_t first_example = 0;
  int64_t epoch = 0;
  // Null: there is a single replica.
  StatisticsAllReduce* statistics_all_reduce = nullptr;
};

// An evaluation of a function that can be done in parts.
class FunctionRun {
 public:
  // `function` must outlive the object.
  explicit FunctionRun(const op::Function& function);

  // A parameter's value, for the caller to write.
  Array& Argument(int parameter) { return *values_[parameter]; }

  // Evaluates calls [begin, end) of the list; all calls before must have been
  // evaluated.
  void Run(size_t begin, size_t end, const StepContext& step);

  // The value of a parameter or of an evaluated tensor.
  const Array& value(int tensor) const { return *values_[tensor]; }

 private:
  const op::Function& function_;
  // By call.
  std::vector<EvaluateOperation*> evaluate_;
  // By tensor; nullopt before it is computed.
  std::vector<std::optional<Array>> values_;
};

// Evaluates a function. The arguments must have the types of the parameters.
// Computes in float32 or float64, as the function says.
std::vector<Array> Evaluate(const op::Function& function,
                            absl::Span<const Array* const> arguments,
                            const StepContext& step);

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_EVALUATE_H_
