#include "common/data_source/model_arrays.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/value.h"

namespace paceline {
namespace {

// Words for features and labels in errors.
struct Side {
  const char* arrays;
  const char* model;
};

constexpr Side kInputs = {"features", "input"};
constexpr Side kOutputs = {"labels", "output"};
constexpr Side kWeights = {"weights", "output"};

Shape WithoutTrailingOnes(Shape shape) {
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  return shape;
}

// The names in quotes: `"left", "right"`.
template <typename Array>
std::string NamesOf(const std::vector<Array>& arrays) {
  return absl::StrJoin(arrays, ", ", [](std::string* text, const Array& array) {
    text->append(array.name.empty() ? "one without a name"
                                    : Excerpt(array.name));
  });
}

absl::Status WrongNames(const Side& side, const std::string& source,
                        const std::vector<ArraySpec>& arrays,
                        const std::vector<ModelArray>& model) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: the %s are %s, expected those of the model's %s%s: %s", source,
      side.arrays, NamesOf(arrays), side.model, model.size() == 1 ? "" : "s",
      NamesOf(model)));
}

absl::Status CheckShape(const Side& side, const ArraySpec& array,
                        const ModelArray& model) {
  if (WithoutTrailingOnes(array.shape) == WithoutTrailingOnes(model.shape)) {
    return absl::OkStatus();
  }
  const char* ids = "";
  if (model.classes.count > 0) {
    ids = model.shape.empty() ? "a class id, " : "class ids, ";
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: examples have %s of shape %s, expected %s%s, of the model's %s %s",
      array.origin, side.arrays, ShapeToString(array.shape), ids,
      ShapeToString(model.shape), side.model, Excerpt(model.name)));
}

absl::StatusOr<std::vector<size_t>> Match(
    const Side& side, const std::string& source,
    const std::vector<ArraySpec>& arrays, const std::vector<ModelArray>& model,
    const std::vector<std::string>& unread = {}) {
  const auto read_count = absl::c_count_if(arrays, [&](const ArraySpec& array) {
    return !absl::c_linear_search(unread, array.name);
  });
  if (read_count != std::ssize(model)) {
    return WrongNames(side, source, arrays, model);
  }
  std::vector<size_t> match;
  for (const ModelArray& expected : model) {
    size_t found = 0;
    while (found < arrays.size() && arrays[found].name != expected.name) {
      ++found;
    }
    if (arrays.size() == 1 && arrays[0].name.empty()) found = 0;
    if (found == arrays.size()) {
      return WrongNames(side, source, arrays, model);
    }
    RETURN_IF_ERROR(CheckShape(side, arrays[found], expected));
    match.push_back(found);
  }
  return match;
}

// For each output, its weights.
absl::StatusOr<std::vector<std::optional<size_t>>> MatchWeights(
    const std::string& source, const std::vector<ArraySpec>& arrays,
    const std::vector<ModelArray>& outputs,
    const std::vector<std::string>& unread) {
  std::vector<std::optional<size_t>> match(outputs.size());
  for (size_t array = 0; array < arrays.size(); ++array) {
    bool is_of_output = absl::c_linear_search(unread, arrays[array].name);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = arrays[array].name;
      if (!name.empty() && name != outputs[i].name) continue;
      RETURN_IF_ERROR(
          CheckShape(kWeights, arrays[array], {outputs[i].name, {}}));
      match[i] = array;
      is_of_output = true;
    }
    if (!is_of_output) return WrongNames(kWeights, source, arrays, outputs);
  }
  return match;
}

}  // namespace

absl::StatusOr<ArrayMatch> MatchArrays(const std::string& source,
                                       const ExampleSpec& spec,
                                       const ModelArrays& model) {
  ArrayMatch match;
  ASSIGN_OR_RETURN(match.inputs,
                   Match(kInputs, source, spec.features, model.inputs));
  if (model.outputs.empty()) return match;
  ASSIGN_OR_RETURN(match.outputs, Match(kOutputs, source, spec.labels,
                                        model.outputs, model.unread_outputs));
  if (!model.has_sample_weights) return match;
  ASSIGN_OR_RETURN(
      match.weights,
      MatchWeights(source, spec.weights, model.outputs, model.unread_outputs));
  return match;
}

absl::Status CheckFits(const DataSource& source, const ExampleSpec& spec,
                       const ModelArrays& model) {
  ASSIGN_OR_RETURN(const ArrayMatch match,
                   MatchArrays(source.name(), spec, model));
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const ClassIds& classes = model.outputs[i].classes;
    if (classes.count == 0) continue;
    RETURN_IF_ERROR(source.CheckClassIds(match.outputs[i], classes));
  }
  return absl::OkStatus();
}

}  // namespace paceline
