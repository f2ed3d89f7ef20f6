// Computes functions of operations in plain loops: what every device is
// compared with.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_EVALUATE_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_EVALUATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/function.h"
#include "worker/device/reference/array.h"

namespace paceline {
class ReplicaSum;
}

namespace paceline::reference {

// The step whose part the function is.
struct StepContext {
  // The first example's position in the epoch's order; the others follow.
  int64_t first_example = 0;
  int64_t epoch = 0;
  // Null: the replica is alone.
  ReplicaSum* replica_sum = nullptr;
};

// The results for these arguments, which have the types of the parameters. In
// float32 or float64, as the function has it.
std::vector<Array> Evaluate(const op::Function& function,
                            absl::Span<const Array* const> arguments,
                            const StepContext& step);

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_EVALUATE_H_
