#include "worker/device/check_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/tensor/class_ids.h"
#include "worker/device/feature_ids.h"

namespace paceline {
namespace {

absl::Status CheckCount(absl::string_view what, int64_t actual,
                        int64_t expected) {
  if (actual == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a batch of ", actual, " ", what, ", expected ", expected));
}

absl::Status CheckType(absl::string_view what, DataType actual,
                       DataType expected) {
  if (actual == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " are ", DataTypeName(actual), ", expected ",
                   DataTypeName(expected)));
}

absl::Status CheckFeatures(const Graph& graph, size_t input, const Batch& batch,
                           DataType type) {
  RETURN_IF_ERROR(CheckType("features", batch.features[input].type, type));
  return type == DataType::kFloat64
             ? CheckFeatureIds<double>(graph, input, batch)
             : CheckFeatureIds<float>(graph, input, batch);
}

// `output`: the shape of the model's output, whose last axis is that of the
// classes.
absl::Status CheckClassIds(const Batch& batch, size_t index,
                           const OutputSpec& spec, const Shape& output) {
  const ClassIds ids = spec.LabelIds(output);
  const int64_t of_example = NumElements(spec.LabelShape(output));
  const auto* labels = static_cast<const int32_t*>(batch.labels[index].data);
  for (int64_t i = 0; i < batch.count * of_example; ++i) {
    if (ids.contains(labels[i])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("label ", labels[i], " of example ",
                     batch.first_example + i / of_example,
                     " is no class of the model, which has ", ids.count));
  }
  return absl::OkStatus();
}

absl::Status CheckLabels(const ProgramSpec& spec, size_t output,
                         const Batch& batch, DataType type) {
  const DataType actual = batch.labels[output].type;
  if (!spec.outputs[output].has_sparse_labels()) {
    return CheckType("labels", actual, type);
  }
  RETURN_IF_ERROR(CheckType("labels", actual, DataType::kInt32));
  return CheckClassIds(batch, output, spec.outputs[output],
                       spec.graph->output_shape(spec.outputs[output].output));
}

int64_t WeightArrayCount(absl::Span<const OutputSpec> outputs) {
  return std::count_if(
      outputs.begin(), outputs.end(),
      [](const OutputSpec& output) { return output.has_sample_weights; });
}

// Adds to an error the name of the input or output, if the model has several.
absl::Status Named(const Graph& graph, absl::string_view what,
                   absl::Span<const int> nodes, size_t index,
                   const absl::Status& status) {
  if (status.ok() || nodes.size() == 1) return status;
  return Annotate(
      status,
      absl::StrCat(what, " \"", graph.nodes[nodes[index]].layer->name, "\""));
}

}  // namespace

absl::Status CheckBatch(const ProgramSpec& spec, const Batch& batch,
                        DataType type) {
  const Graph& graph = *spec.graph;
  RETURN_IF_ERROR(CheckCount("examples", batch.count, spec.batch_size));
  RETURN_IF_ERROR(CheckCount("arrays of features", std::ssize(batch.features),
                             std::ssize(graph.inputs)));
  RETURN_IF_ERROR(CheckCount("arrays of labels", std::ssize(batch.labels),
                             std::ssize(spec.outputs)));
  RETURN_IF_ERROR(CheckCount("arrays of weights", std::ssize(batch.weights),
                             WeightArrayCount(spec.outputs)));
  for (const HostTensor& weights : batch.weights) {
    RETURN_IF_ERROR(CheckType("weights", weights.type, type));
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    RETURN_IF_ERROR(Named(graph, "input", graph.inputs, i,
                          CheckFeatures(graph, i, batch, type)));
  }
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    RETURN_IF_ERROR(Named(graph, "output", graph.outputs,
                          spec.outputs[i].output,
                          CheckLabels(spec, i, batch, type)));
  }
  return absl::OkStatus();
}

}  // namespace paceline
