// Which array of a source goes where in a model.
//
// A job that names arrays by the model's inputs and outputs has them matched by
// these names, in whatever order. An array without a name is for a model of one
// input, or of one output.
#ifndef PACELINE_COMMON_DATA_SOURCE_MODEL_ARRAYS_H_
#define PACELINE_COMMON_DATA_SOURCE_MODEL_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/tensor/shape.h"

namespace paceline {

// What a model takes of each example for one of its inputs, or as the label of
// one of its outputs.
struct ModelArray {
  // That of the layer.
  std::string name;
  // Of one example; () for class ids.
  Shape shape;
  // Above 0: it has class ids below this.
  int64_t class_count = 0;
};

// In the model's order.
struct ModelArrays {
  std::vector<ModelArray> inputs;
  std::vector<ModelArray> outputs;
};

// For each input, the index of its array among a source's features; for each
// output, of that among its labels.
struct ArrayMatch {
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
};

// InvalidArgument unless there is one array for each input and output, by name,
// of its shape (trailing dimensions of 1 count for nothing).
absl::StatusOr<ArrayMatch> MatchArrays(const DataSource& source,
                                       const ModelArrays& model);

// The same, and InvalidArgument if the source knows of a label that is no class
// id where one is expected.
absl::Status CheckFits(const DataSource& source, const ModelArrays& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_MODEL_ARRAYS_H_
