#include "common/data_source/array_stream.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/data_source/common_count.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

using Arrays = std::vector<ArrayToStream>;
// Of several arrays.
using OpenRows = std::vector<StoredRows>;

absl::Status ReadRow(OpenRows& rows, int64_t index,
                     std::vector<Elements>& out) {
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSIGN_OR_RETURN(out[i], rows[i].Read(index));
  }
  return absl::OkStatus();
}

class StreamReader : public ExampleReader {
 public:
  explicit StreamReader(ByArray<StoredRows> rows) : rows_(std::move(rows)) {
    example_.features.resize(rows_.features.size());
    example_.labels.resize(rows_.labels.size());
    example_.weights.resize(rows_.weights.size());
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    RETURN_IF_ERROR(ReadRow(rows_.features, index, example_.features));
    RETURN_IF_ERROR(ReadRow(rows_.labels, index, example_.labels));
    RETURN_IF_ERROR(ReadRow(rows_.weights, index, example_.weights));
    return &example_;
  }

 private:
  ByArray<StoredRows> rows_;
  Example example_;
};

Shape ShapeOfExample(const StoredRows& rows) {
  return Shape(rows.shape().begin() + 1, rows.shape().end());
}

// Opens the arrays, and checks that they still have `count` examples of the
// types and shapes of `specs`, since files may have been replaced.
absl::StatusOr<OpenRows> OpenAll(const Arrays& arrays,
                                 const std::vector<ArraySpec>& specs,
                                 int64_t count) {
  OpenRows opened;
  for (size_t i = 0; i < arrays.size(); ++i) {
    ASSIGN_OR_RETURN(StoredRows rows, arrays[i].open());
    if (rows.type() != specs[i].type || rows.shape()[0] != count ||
        ShapeOfExample(rows) != specs[i].shape) {
      return absl::FailedPreconditionError(absl::StrCat(
          specs[i].origin, ": the header has changed since the job began"));
    }
    opened.push_back(std::move(rows));
  }
  return opened;
}

class ArrayStream : public DataSource {
 public:
  ArrayStream(ByArray<ArrayToStream> arrays, ExampleSpec spec, int64_t count)
      : arrays_(std::move(arrays)), spec_(std::move(spec)), count_(count) {}

  const std::string& name() const override {
    return spec_.features.front().origin;
  }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return count_; }
  bool is_stream() const override { return true; }

  absl::Status CheckClassIds(size_t /*label*/,
                             const ClassIds& /*ids*/) const override {
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    ByArray<StoredRows> rows;
    ASSIGN_OR_RETURN(rows.features,
                     OpenAll(arrays_.features, spec_.features, count_));
    ASSIGN_OR_RETURN(rows.labels,
                     OpenAll(arrays_.labels, spec_.labels, count_));
    ASSIGN_OR_RETURN(rows.weights,
                     OpenAll(arrays_.weights, spec_.weights, count_));
    return std::make_unique<StreamReader>(std::move(rows));
  }

 private:
  const ByArray<ArrayToStream> arrays_;
  const ExampleSpec spec_;
  const int64_t count_;
};

absl::StatusOr<std::vector<ArraySpec>> Describe(const Arrays& arrays,
                                                CommonCount& count) {
  std::vector<ArraySpec> specs;
  for (const ArrayToStream& array : arrays) {
    ASSIGN_OR_RETURN(const StoredRows rows, array.open());
    RETURN_IF_ERROR(count.Add(array.origin, rows.shape()));
    specs.push_back(
        {array.name, array.origin, rows.type(), ShapeOfExample(rows)});
  }
  return specs;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> OpenArrayStream(
    ByArray<ArrayToStream> arrays) {
  CHECK(!arrays.features.empty());
  CommonCount count;
  ExampleSpec spec;
  ASSIGN_OR_RETURN(spec.features, Describe(arrays.features, count));
  ASSIGN_OR_RETURN(spec.labels, Describe(arrays.labels, count));
  ASSIGN_OR_RETURN(spec.weights, Describe(arrays.weights, count));
  return std::make_unique<ArrayStream>(std::move(arrays), std::move(spec),
                                       count.count());
}

}  // namespace paceline
