// Sources of examples.
//
// A source says which arrays its examples have: any number of features, and of
// labels. Its readers return examples with values in their stored types. Most
// sources can be read in any order; a stream is read sequentially. EpochOrder
// decides the order, and BatchPipeline makes batches (worker/data). sources.h
// lists all kinds of sources.
#ifndef PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/element.h"
#include "common/data_source/file_layout.h"
#include "common/tensor/class_ids.h"
#include "common/tensor/shape.h"

namespace paceline {

// One array of each example.
struct ArraySpec {
  // The model's input or output for the array, as the job names it. Empty: the
  // job names none, so it is for the only input or output.
  std::string name;
  // Where the array is stored, for errors: "/data/digits.npz: x".
  std::string origin;
  ElementType type = ElementType::kUint8;
  // Shape per example; () for one class id.
  Shape shape;
};

// A T for each array of an example.
template <typename T>
struct ByArray {
  std::vector<T> features;
  std::vector<T> labels;
  // How much an example counts: Keras' sample_weight. Each is for an output, or
  // the only one, without a name, for all outputs.
  std::vector<T> weights = {};
};

// At least one array of features.
using ExampleSpec = ByArray<ArraySpec>;

// What is read of examples: predictions need no labels and no weights, and read
// each example once, in order. A source without them has none in its
// ExampleSpec, and holds no examples in memory.
enum class Contents { kFeaturesAndLabels, kFeatures };

// One example: the values of each array, in the order of the spec.
using Example = ByArray<Elements>;

// Reads the examples of a source, which must outlive the reader. Not
// thread-safe.
class ExampleReader {
 public:
  virtual ~ExampleReader() = default;

  // Example `index` in [0, example_count()), valid until the next call. In a
  // stream (DataSource::is_stream), the next example is the fastest to read; a
  // later one takes the time of reading those in between, an earlier one that
  // of restarting from the beginning. The caller must add source and index to
  // errors. Allocates only in the first calls.
  virtual absl::StatusOr<const Example*> Read(int64_t index) = 0;
};

// Is called with the path of a file.
using FileNameVisitor = absl::FunctionRef<void(const std::string& path)>;

// Immutable; thread-safe.
class DataSource {
 public:
  virtual ~DataSource() = default;

  // A name for errors: the origin of the first features.
  virtual const std::string& name() const = 0;

  virtual const ExampleSpec& spec() const = 0;

  // Always at least 1.
  virtual int64_t example_count() const = 0;

  // InvalidArgument names the origin of labels array `label`, and a value in it
  // that is none of `ids`. Checks only what the source knows without reading
  // examples.
  virtual absl::Status CheckClassIds(size_t label,
                                     const ClassIds& ids) const = 0;

  // The names of the classes of labels array `label`, by their ids; none if the
  // source knows no names.
  virtual std::vector<std::string> ClassNames(size_t /*label*/) const {
    return {};
  }

  // The class of example `index`, by the only array of labels, if the source
  // knows it without reading the example.
  virtual std::optional<int64_t> KnownClass(int64_t /*index*/) const {
    return std::nullopt;
  }

  // Where example `index` lies, for errors about its values: "/d.csv:12".
  // Empty: the origin of an array and the index say it. May block on the file.
  virtual std::string LocationOf(int64_t /*index*/) const { return ""; }

  // Whether a reader is fast only where it goes on from example to example, so
  // that several readers would read everything several times.
  virtual bool is_stream() const { return false; }

  // How the examples lie in files.
  virtual FileLayout Files() const { return {}; }

  // Visits the files that examples are read from, in the order of the examples,
  // if the data set names a folder and not these files.
  virtual void VisitFolderFiles(FileNameVisitor /*visit*/) const {}

  // Creates a reader; use one per thread. Errors name the origin of an array
  // that cannot be read.
  virtual absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_DATA_SOURCE_H_
