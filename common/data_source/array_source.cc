#include "common/data_source/array_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "common/base/file_window.h"
#include "common/base/status_macros.h"
#include "common/data_source/common_count.h"
#include "common/data_source/convert.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// How many values of a file are looked at together.
constexpr int64_t kCheckedTogether = int64_t{1} << 16;

// The rows of an array: one per example.
struct Column {
  Column(const ArraySpec& spec, ArrayValues opened)
      : row_size(NumElements(spec.shape)), values(std::move(opened)) {}

  // Elements per example.
  int64_t row_size;
  ArrayValues values;
};

using Columns = ByArray<Column>;

// Points `out` to the values of example `index` in each column.
absl::Status ReadRow(const std::vector<Column>& columns, int64_t index,
                     std::vector<FileWindow>& windows,
                     std::vector<Elements>& out) {
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t size = columns[i].row_size;
    ASSIGN_OR_RETURN(out[i], ReadElements(columns[i].values, index * size, size,
                                          windows[i]));
  }
  return absl::OkStatus();
}

class ArrayReader : public ExampleReader {
 public:
  ArrayReader(const Columns& columns, int64_t count)
      : columns_(columns), count_(count) {
    example_.features.resize(columns.features.size());
    example_.labels.resize(columns.labels.size());
    example_.weights.resize(columns.weights.size());
    windows_.features.resize(columns.features.size());
    windows_.labels.resize(columns.labels.size());
    windows_.weights.resize(columns.weights.size());
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    CHECK(index >= 0 && index < count_);
    RETURN_IF_ERROR(ReadRow(columns_.features, index, windows_.features,
                            example_.features));
    RETURN_IF_ERROR(
        ReadRow(columns_.labels, index, windows_.labels, example_.labels));
    RETURN_IF_ERROR(
        ReadRow(columns_.weights, index, windows_.weights, example_.weights));
    return &example_;
  }

 private:
  const Columns& columns_;
  const int64_t count_;
  // For columns that stay in a file.
  ByArray<FileWindow> windows_;
  Example example_;
};

class ArraySource : public DataSource {
 public:
  ArraySource(ExampleSpec spec, Columns columns, int64_t count)
      : spec_(std::move(spec)), columns_(std::move(columns)), count_(count) {}

  const std::string& name() const override {
    return spec_.features.front().origin;
  }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return count_; }

  absl::Status CheckClassIds(size_t label, const ClassIds& ids) const override {
    const Column& column = columns_.labels[label];
    const int64_t count = count_ * column.row_size;
    FileWindow window;
    for (int64_t first = 0; first < count; first += kCheckedTogether) {
      ASSIGN_OR_RETURN(
          const Elements some,
          ReadElements(column.values, first,
                       std::min(kCheckedTogether, count - first), window));
      const absl::Status checked = paceline::CheckClassIds(some, ids, first);
      if (!checked.ok()) return Annotate(checked, spec_.labels[label].origin);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return std::make_unique<ArrayReader>(columns_, count_);
  }

 private:
  const ExampleSpec spec_;
  const Columns columns_;
  const int64_t count_;
};

absl::Status CheckCounts(const std::vector<ArrayToOpen>& arrays,
                         CommonCount& count) {
  for (const ArrayToOpen& array : arrays) {
    ASSIGN_OR_RETURN(const Shape shape, array.read_shape());
    RETURN_IF_ERROR(count.Add(array.origin, shape));
  }
  return absl::OkStatus();
}

// Adds to `count` again, since a file may have changed after its header was
// read.
absl::Status OpenColumns(const std::vector<ArrayToOpen>& arrays,
                         CommonCount& count, std::vector<ArraySpec>& specs,
                         std::vector<Column>& columns) {
  for (const ArrayToOpen& array : arrays) {
    ASSIGN_OR_RETURN(ArrayValues values, array.open());
    const Shape& shape = ShapeOf(values);
    RETURN_IF_ERROR(count.Add(array.origin, shape));
    specs.push_back({array.name, array.origin, TypeOf(values),
                     Shape(shape.begin() + 1, shape.end())});
    columns.emplace_back(specs.back(), std::move(values));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> OpenArraySource(
    const ByArray<ArrayToOpen>& arrays) {
  CHECK(!arrays.features.empty());
  CommonCount count;
  RETURN_IF_ERROR(CheckCounts(arrays.features, count));
  RETURN_IF_ERROR(CheckCounts(arrays.labels, count));
  RETURN_IF_ERROR(CheckCounts(arrays.weights, count));
  ExampleSpec spec;
  Columns columns;
  RETURN_IF_ERROR(
      OpenColumns(arrays.features, count, spec.features, columns.features));
  RETURN_IF_ERROR(
      OpenColumns(arrays.labels, count, spec.labels, columns.labels));
  RETURN_IF_ERROR(
      OpenColumns(arrays.weights, count, spec.weights, columns.weights));
  return std::make_unique<ArraySource>(std::move(spec), std::move(columns),
                                       count.count());
}

}  // namespace paceline
