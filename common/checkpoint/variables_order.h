// Orders to change variables: by a checkpoint, or by their averages.
#ifndef PACELINE_COMMON_CHECKPOINT_VARIABLES_ORDER_H_
#define PACELINE_COMMON_CHECKPOINT_VARIABLES_ORDER_H_

#include "absl/status/status.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// InvalidArgument, naming the field, its value and what is expected, unless a
// holder of variables can carry out the order.
absl::Status CheckOrder(const v1::VariablesOrder& order);

// The same if it swaps averages that the optimizer does not have.
absl::Status CheckHasAverages(const v1::VariablesOrder& order,
                              bool has_averages);

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_VARIABLES_ORDER_H_
