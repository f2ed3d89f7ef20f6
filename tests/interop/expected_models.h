// The models of keras_expected.json, of which Keras has computed the outputs.
#ifndef PACELINE_TESTS_INTEROP_EXPECTED_MODELS_H_
#define PACELINE_TESTS_INTEROP_EXPECTED_MODELS_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/config/json_value.h"
#include "common/config/path.h"
#include "common/job/job_fields.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"

namespace paceline {

inline nlohmann::ordered_json ReadExpectedModels(const std::string& root) {
  std::ifstream file(root + "/tests/interop/keras_expected.json");
  CHECK(file) << "keras_expected.json cannot be read in " << root;
  return nlohmann::ordered_json::parse(file)["models"];
}

// The graph of layers as in a job.
inline absl::StatusOr<Graph> GraphOfLayers(
    const nlohmann::ordered_json& layers) {
  ASSIGN_OR_RETURN(
      const v1::Model model,
      FieldsOf(static_cast<const v1::Model*>(nullptr))
          .Read(ValueFromJson({{"layers", layers}}), Path("model")));
  return BuildGraph(model);
}

// Reads elements of a variable, from element `begin` on: the same as
// `model_case` in keras_models.py assigns.
inline absl::Status ReadExpectedVariable(const Graph& graph, double scale,
                                         absl::string_view name, int64_t begin,
                                         absl::Span<float> out) {
  int64_t variable = 0;
  while (graph.variables[variable].name != name) ++variable;
  const int64_t salt = 10 + variable;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t index = begin + static_cast<int64_t>(i);
    const auto step = static_cast<double>((index * 2741 + salt * 611) % 9973);
    out[i] = static_cast<float>((step / 4986.5 - 1) * scale);
    if (!graph.variables[variable].is_trained()) {
      out[i] = out[i] * out[i] + 0.25F;
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEROP_EXPECTED_MODELS_H_
