// Where examples come from.
//
// A source gives random access to examples in the type they are stored in; an
// order says which comes when, and batches are made of them (worker/data).
// sources.h has every kind of source.
#ifndef PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/element.h"
#include "common/tensor/shape.h"

namespace paceline {

// One example.
struct Example {
  Elements features;
  Elements labels;
};

// Immutable; thread-safe.
class DataSource {
 public:
  virtual ~DataSource() = default;

  // Names the source in errors, by the file of its features.
  virtual const std::string& name() const = 0;

  // At least 1.
  virtual int64_t example_count() const = 0;

  // Shapes of one example's features and labels; a class id has shape ().
  virtual const Shape& feature_shape() const = 0;
  virtual const Shape& label_shape() const = 0;

  // InvalidArgument names the file and a label that is no integer in
  // [0, class_count), as far as the source knows its labels without decoding
  // examples.
  virtual absl::Status CheckClassIds(int64_t class_count) const = 0;

  // The example `index` in [0, example_count()). A source that keeps examples
  // encoded decodes into `scratch`, which it may resize. The result is valid as
  // long as the source and `scratch` are, until `scratch` is used again. Does
  // not allocate once `scratch` is large enough.
  virtual absl::StatusOr<Example> Read(
      int64_t index, std::vector<std::byte>& scratch) const = 0;
};

// InvalidArgument unless the examples fit a model: features of shape `input`
// (without the batch; trailing dimensions of 1 count for nothing), and labels
// that are ids of the classes along `output`'s last axis, if `sparse_labels`,
// or of shape `output`.
absl::Status CheckFits(const DataSource& source, const Shape& input,
                       const Shape& output, bool sparse_labels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_
