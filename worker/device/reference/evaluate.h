// Computes functions of operations in plain loops: what every device is
// compared with.
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

// Computes the outputs of a call of the operation, which is of the class that
// the name of the C++ function says.
using EvaluateOperation = void(const op::Operation& operation,
                               const Evaluation& evaluation);

// The step whose part the function is.
struct StepContext {
  // The first example's position in the epoch's order; the others follow.
  int64_t first_example = 0;
  int64_t epoch = 0;
  // Null: the replica is alone.
  StatisticsAllReduce* statistics_all_reduce = nullptr;
};

// One evaluation of a function, in parts.
class FunctionRun {
 public:
  // `function` outlives it.
  explicit FunctionRun(const op::Function& function);

  // The value of a parameter, to be written.
  Array& Argument(int parameter) { return *values_[parameter]; }

  // Computes calls [begin, end) of the list; those before have been computed.
  void Run(size_t begin, size_t end, const StepContext& step);

  // Of a parameter, or of what has been computed.
  const Array& value(int tensor) const { return *values_[tensor]; }

 private:
  const op::Function& function_;
  // Of each call.
  std::vector<EvaluateOperation*> evaluate_;
  // By tensor; nullopt before it is computed.
  std::vector<std::optional<Array>> values_;
};

// The results for these arguments, which have the types of the parameters. In
// float32 or float64, as the function has it.
std::vector<Array> Evaluate(const op::Function& function,
                            absl::Span<const Array* const> arguments,
                            const StepContext& step);

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_EVALUATE_H_
