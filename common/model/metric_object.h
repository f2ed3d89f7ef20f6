// A metric as it stands in a job.
#ifndef PACELINE_COMMON_MODEL_METRIC_OBJECT_H_
#define PACELINE_COMMON_MODEL_METRIC_OBJECT_H_

#include "absl/status/statusor.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// An entry of `metrics`, as ReadKerasObject reads it. As in Keras, one that is
// a name alone has that name in the logs ("MSE"), an object that of its class
// in snake case ("mean_squared_error"), unless its config has a name.
absl::StatusOr<KerasObject> ReadMetricObject(const Value& value,
                                             const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRIC_OBJECT_H_
