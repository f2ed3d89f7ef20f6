// The config of a model among the layers of a model:
//
//   layers:
//     - Input: {shape: [96, 96, 3]}
//     - Model: {path: base.keras, trainable: false}
//     - Dense: {units: 10}
#ifndef PACELINE_COMMON_MODEL_NESTED_MODEL_H_
#define PACELINE_COMMON_MODEL_NESTED_MODEL_H_

#include <string>
#include <vector>

#include "common/config/field_table.h"
#include "common/config/keras_object.h"

namespace paceline {

struct NestedModel {
  static constexpr char kClassName[] = "Model";
  static const FieldTable<NestedModel>& Fields();

  // Unique in the outer model; "": the outer model gives one.
  std::string name;
  // If false, none of its layers are trained.
  bool trainable = true;
  // A Keras file with the initial values of its variables; "": none. A job that
  // gives no layers takes them from it, too (common/job/model_file.h).
  std::string path;
  // As in a job's model: the first is an Input. The model reads as many layers
  // as it has Inputs, in the order of these.
  std::vector<KerasObject> layers;
  // The names of the layers whose outputs are the model's (output_name.h);
  // empty: the last.
  std::vector<std::string> outputs;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_NESTED_MODEL_H_
