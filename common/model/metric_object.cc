#include "common/model/metric_object.h"

#include "common/base/status_macros.h"
#include "common/model/keras_names.h"

namespace paceline {

absl::StatusOr<KerasObject> ReadMetricObject(const Value& value,
                                             const Path& path) {
  ASSIGN_OR_RETURN(KerasObject object, ReadKerasObject(value, path));
  if (value.is_string() &&
      ToSnakeCase(object.class_name) != object.class_name) {
    object.config["name"] = value;
  }
  return object;
}

}  // namespace paceline
