// Common parts of the model's tests.
#ifndef PACELINE_TESTS_UNIT_MODEL_TESTING_H_
#define PACELINE_TESTS_UNIT_MODEL_TESTING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "glog/logging.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

inline Value Yaml(const std::string& text) {
  const auto value = ReadYaml(text, "test", limits::kMaxJobBytes);
  CHECK(value.ok()) << value.status();
  return *value;
}

// A Keras object, such as "mse" or "{Dense: {units: 3}}".
inline KerasObject Object(const std::string& yaml) {
  const auto object = ReadKerasObject(Yaml(yaml), Path());
  CHECK(object.ok()) << object.status();
  return *object;
}

inline v1::KerasObject ProtoObject(const std::string& yaml) {
  const auto proto = ToProto(Object(yaml), Path());
  CHECK(proto.ok()) << proto.status();
  return *proto;
}

inline v1::Model ModelOf(const std::string& layers) {
  const Value list = Yaml(layers);
  v1::Model model;
  for (const Value& layer : list.as_list()) {
    const auto object = ReadLayerObject(layer, Path());
    CHECK(object.ok()) << object.status();
    *model.add_layers() = *ToProto(*object, Path());
  }
  return model;
}

// The graph of a list of layers; the last one is the output.
inline absl::StatusOr<Graph> GraphOf(const std::string& layers) {
  return BuildGraph(ModelOf(layers));
}

// The same with any number of Input layers, and these layers as outputs.
inline absl::StatusOr<Graph> GraphOf(const std::string& layers,
                                     const std::vector<std::string>& outputs) {
  v1::Model model = ModelOf(layers);
  model.mutable_outputs()->Assign(outputs.begin(), outputs.end());
  return BuildGraph(model);
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_MODEL_TESTING_H_
