// Draws a model as Keras' model.summary() does.
#ifndef PACELINE_COMMON_KERAS_MODEL_SUMMARY_H_
#define PACELINE_COMMON_KERAS_MODEL_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/model/graph.h"

namespace paceline {

// How much there is of something.
struct ParameterCount {
  int64_t elements = 0;
  int64_t bytes = 0;
};

struct SummaryOptions {
  // The state of the optimizer, if the model has one.
  std::optional<ParameterCount> optimizer = std::nullopt;
  // Of the terminal.
  int columns = 80;
};

// Lines that end with "\n", without colours. Layers are in Keras' order. Has
// the column "Connected to" if the model has branches. Columns that are too
// narrow for a word cut it, as Keras does.
std::string SummarizeModel(const Graph& graph, const SummaryOptions& options);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MODEL_SUMMARY_H_
