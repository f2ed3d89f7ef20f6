// Keras objects in configurations.
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

// A class name and its config, to be checked by the class's field table.
struct KerasObject {
  std::string class_name;
  // Always a map.
  Value config = Value::Map{};
  // For a layer in a model: the names of the layers that it reads. Empty: the
  // layer before it.
  std::vector<std::string> inputs = {};
  // The names of the layers whose mask, or any of whose masks, that of what it
  // reads must be. Empty: any.
  std::vector<std::string> masked_by = {};
  // Whether Keras records no mask for its call: it is an operator
  // (keras_operator.h), or a layer that reads the mask that there is when the
  // model runs (graph_masks.h), or else what it reads must have no mask.
  bool unmasked = false;
};

// Reads one of these forms:
//
//   relu                                 a name; its config is empty
//   Dense: {units: 10}                   short for the next form
//   {class_name: Dense, config: {units: 10}, module: keras.layers, …}
//
// Names are not resolved: "mse" and "MeanSquaredError" stay as they are.
absl::StatusOr<KerasObject> ReadKerasObject(const Value& value,
                                            const Path& path);

// Reads a layer in a model: a Keras object with optional inputs, and makers of
// its mask,
//
//   {Add: {name: sum}, inputs: [left, right]}
//   {LSTM: {units: 8}, masked_by: [embedding]}
//   {Rescaling: {scale: 2}, unmasked: true}
absl::StatusOr<KerasObject> ReadLayerObject(const Value& value,
                                            const Path& path);

// In the form of job files: `{class_name: {…}}`, or just the name if the config
// is empty; with the inputs and the makers of the mask, if any.
Value WriteKerasObject(const KerasObject& object);

// In the form of Keras' serialize_keras_object for Keras' own classes: {module,
// class_name, config, registered_name}. `module`: "keras.layers".
// ReadKerasObject accepts this form, too.
Value SerializeKerasObject(absl::string_view module, const KerasObject& object);

// InvalidArgument if the config has whole numbers that Struct cannot represent.
absl::StatusOr<v1::KerasObject> ToProto(const KerasObject& object,
                                        const Path& path);
KerasObject FromProto(const v1::KerasObject& proto);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_KERAS_OBJECT_H_
