// The names of the outputs of layers: that of the layer, and of the outputs of
// a model in the model with several "base:0", "base:1".
#ifndef PACELINE_COMMON_MODEL_OUTPUT_NAME_H_
#define PACELINE_COMMON_MODEL_OUTPUT_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// The name of output `output` of a layer or call; for output 0 that of the
// layer.
std::string NameOfOutput(absl::string_view layer, int output);

struct OutputName {
  absl::string_view layer;
  int output = 0;
};

// The parts of a name; output 0 of a layer `name` if it has no number at its
// end. A layer may have such a name of its own: look for that first.
OutputName ParseOutputName(absl::string_view name);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_OUTPUT_NAME_H_
