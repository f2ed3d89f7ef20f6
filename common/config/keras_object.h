// Keras objects as they stand in configurations.
#ifndef PACELINE_COMMON_CONFIG_KERAS_OBJECT_H_
#define PACELINE_COMMON_CONFIG_KERAS_OBJECT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// A class and its config, which the field table of the class checks.
struct KerasObject {
  std::string class_name;
  // Always a map.
  Value config = Value::Map{};
  // Of a layer in a model: the names of the layers that it reads. Empty: the
  // one before it.
  std::vector<std::string> inputs = {};
};

// Reads any of
//   relu                                 a name; its config is empty
//   Dense: {units: 10}                   short for the following
//   {class_name: Dense, config: {units: 10}, module: keras.layers, …}
// Names are not resolved: "mse" and "MeanSquaredError" stay what they are.
absl::StatusOr<KerasObject> ReadKerasObject(const Value& value,
                                            const Path& path);

// A layer in a model: a Keras object that may say beside its class what it
// reads,
//   {Add: {name: sum}, inputs: [left, right]}
absl::StatusOr<KerasObject> ReadLayerObject(const Value& value,
                                            const Path& path);

// As jobs have it: `{class_name: {…}}`, or just the name where the config is
// empty; with the inputs, if there are any.
Value WriteKerasObject(const KerasObject& object);

// As Keras' serialize_keras_object has an object of Keras' own, whose class is
// in `module` ("keras.layers"): {module, class_name, config, registered_name}.
// ReadKerasObject reads it too.
Value SerializeKerasObject(absl::string_view module, const KerasObject& object);

// InvalidArgument if the config has whole numbers that Struct cannot hold.
absl::StatusOr<v1::KerasObject> ToProto(const KerasObject& object,
                                        const Path& path);
KerasObject FromProto(const v1::KerasObject& proto);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_KERAS_OBJECT_H_
