// Matches the arrays of a source with the inputs and outputs of a model.
//
// If a job names arrays by the model's inputs and outputs, they are matched by
// name, in any order. An array without a name is for a model with one input, or
// one output; of weights, for all outputs.
#ifndef PACELINE_COMMON_DATA_SOURCE_MODEL_ARRAYS_H_
#define PACELINE_COMMON_DATA_SOURCE_MODEL_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/tensor/class_ids.h"
#include "common/tensor/shape.h"

namespace paceline {

// What a model reads of each example: for one of its inputs, or as the label of
// one of its outputs.
struct ModelArray {
  // The layer's name.
  std::string name;
  // Shape per example; () for one class id.
  Shape shape;
  // ClassIds::count is 0 unless the array has ids of classes.
  ClassIds classes = {};
};

// In the model's order. Without outputs, for predictions, a source's labels
// and weights are ignored.
struct ModelArrays {
  std::vector<ModelArray> inputs;
  // Those that have labels.
  std::vector<ModelArray> outputs;
  // Whether each output also takes a weight of each example: a number.
  bool has_sample_weights = false;
  // The names of the other outputs, whose labels and weights are ignored.
  std::vector<std::string> unread_outputs = {};
};

// For each input, the index of its array among the source's features; for each
// output, that among the source's labels.
struct ArrayMatch {
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  // For each output, the index among the source's weights; nullopt: it has
  // none, so that examples have the weight 1.
  std::vector<std::optional<size_t>> weights = {};
};

// InvalidArgument unless each input and read output has exactly one array, by
// name, with its shape (ignoring trailing dimensions of 1), and each array of
// weights is of an output, and of numbers. `spec`: what examples of `source`,
// which is for errors, have once the job's steps have been applied.
absl::StatusOr<ArrayMatch> MatchArrays(const std::string& source,
                                       const ExampleSpec& spec,
                                       const ModelArrays& model);

// The same, and InvalidArgument if the source knows a label that is no valid
// class id.
absl::Status CheckFits(const DataSource& source, const ExampleSpec& spec,
                       const ModelArrays& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_MODEL_ARRAYS_H_
