// Mixed precision in the config of a Keras model.
//
// In Keras each layer has a policy of its types, "mixed_float16", and with that
// the optimizer is wrapped in a LossScaleOptimizer. Here the job has one
// precision, in which a device computes all layers but the last, and scales the
// loss.
#ifndef PACELINE_COMMON_KERAS_MIXED_PRECISION_H_
#define PACELINE_COMMON_KERAS_MIXED_PRECISION_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Replaces the mixed policies of layers in `config` by float32. Returns their
// name, the job's `precision`; "" if there are none. Unimplemented if they
// differ; others are left to the layers.
absl::StatusOr<std::string> TakeMixedPolicy(Value& config, const Path& path);

// The optimizer in a LossScaleOptimizer that scales as Keras does by default;
// others as they are, without keys of a LossScaleOptimizer that mean nothing.
absl::StatusOr<Value> UnwrapLossScale(const Value& optimizer, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MIXED_PRECISION_H_
