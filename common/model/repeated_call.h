// The config of a further call of a layer or model, which shares its variables:
//
//   layers:
//     - Input: {shape: [8], name: left}
//     - Dense: {units: 8, name: tower}
//     - {Call: {layer: tower, name: again}, inputs: [tower]}
//
// In a Keras file it is a second entry of the layer's inbound_nodes.
#ifndef PACELINE_COMMON_MODEL_REPEATED_CALL_H_
#define PACELINE_COMMON_MODEL_REPEATED_CALL_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/config/field_table.h"

namespace paceline {

struct RepeatedCall {
  static constexpr char kClassName[] = "Call";
  static const FieldTable<RepeatedCall>& Fields();

  // Unique in the model; "": RepeatedCallName.
  std::string name;
  // The name of an earlier layer or model of the same model.
  std::string layer;
};

// The name of a call that has none: "dense/1" for the first such call of
// "dense". Layers have no "/" in their names.
std::string RepeatedCallName(absl::string_view layer, int call);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_REPEATED_CALL_H_
