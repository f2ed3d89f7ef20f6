// Where examples come from.
//
// A source says which arrays its examples have, features and labels, any number
// of each; its readers give the examples, in the types that they are stored in.
// Examples of most sources are read in any order, those of a stream one after
// the other. An order says which comes when, and batches are made of them
// (worker/data). sources.h has every kind of source.
#ifndef PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/element.h"
#include "common/tensor/shape.h"

namespace paceline {

// What examples have of one array.
struct ArraySpec {
  // The input or output of the model that it is for, as the job names it;
  // empty: the job names none, so it is for the only one.
  std::string name;
  // Where it is stored, for errors: "/data/digits.npz: x".
  std::string origin;
  ElementType type = ElementType::kUint8;
  // Of one example; a class id has shape ().
  Shape shape;
};

// At least one array of each.
struct ExampleSpec {
  std::vector<ArraySpec> features;
  std::vector<ArraySpec> labels;
};

// One example: the values of each array, in the order of the spec.
struct Example {
  std::vector<Elements> features;
  std::vector<Elements> labels;
};

// Reads the examples of a source, which outlives it. Not thread-safe.
class ExampleReader {
 public:
  virtual ~ExampleReader() = default;

  // The example `index` in [0, example_count()), valid until the next call. Of
  // a stream (IsStream in sources.h), the one behind the last takes least time;
  // one that is farther on takes that of those between, and one before it that
  // of starting again at the beginning. Whoever reads adds source and index to
  // errors. Allocates nothing once warm.
  virtual absl::StatusOr<const Example*> Read(int64_t index) = 0;
};

// Immutable; thread-safe.
class DataSource {
 public:
  virtual ~DataSource() = default;

  // Names the source in errors, by the origin of its first features.
  virtual const std::string& name() const = 0;

  virtual const ExampleSpec& spec() const = 0;

  // At least 1.
  virtual int64_t example_count() const = 0;

  // InvalidArgument names the origin of labels array `label`, and a value of it
  // that is no integer in [0, class_count), as far as the source knows its
  // labels without reading examples.
  virtual absl::Status CheckClassIds(size_t label,
                                     int64_t class_count) const = 0;

  // Each thread takes a reader of its own. Errors name the origin of an array
  // that cannot be read any more.
  virtual absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_
