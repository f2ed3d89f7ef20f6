// Reads an entry of a job's `metrics`.
#ifndef PACELINE_COMMON_MODEL_METRIC_OBJECT_H_
#define PACELINE_COMMON_MODEL_METRIC_OBJECT_H_

#include "absl/status/statusor.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Like ReadKerasObject. As in Keras, a metric given as a name has that name in
// logs ("MSE"); one given as an object has its class name in snake case
// ("mean_squared_error"), unless its config has a name.
absl::StatusOr<KerasObject> ReadMetricObject(const Value& value,
                                             const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRIC_OBJECT_H_
