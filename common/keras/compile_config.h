// Reads what a Keras model was compiled with.
#ifndef PACELINE_COMMON_KERAS_COMPILE_CONFIG_H_
#define PACELINE_COMMON_KERAS_COMPILE_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// In the form of a job file. Each is null if the model is not compiled, or the
// file does not say; an error if we cannot use it, which counts only if the job
// does not say it either.
struct CompileConfig {
  absl::StatusOr<Value> loss = Value();
  absl::StatusOr<Value> loss_weights = Value();
  absl::StatusOr<Value> optimizer = Value();
  absl::StatusOr<Value> metrics = Value();
  absl::StatusOr<Value> weighted_metrics = Value();
};

// `outputs`: the names of the model's outputs. If there are several, losses and
// metrics are maps by these names, with null for an output without a loss;
// loss_weights always are. InvalidArgument unless `config` is a map.
absl::StatusOr<CompileConfig> ReadCompileConfig(
    const Value& config, absl::Span<const std::string> outputs,
    const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_COMPILE_CONFIG_H_
