#include "common/data_source/array_source.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/data_source/common_count.h"
#include "common/data_source/convert.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// The rows of an array: one per example.
struct Column {
  Column(const ArraySpec& spec, std::unique_ptr<std::byte[]> values)
      : type(spec.type),
        row_size(NumElements(spec.shape)),
        row_bytes(row_size * static_cast<int64_t>(SizeOf(type))),
        data(std::move(values)) {}

  Elements Row(int64_t index) const {
    return {type, data.get() + index * row_bytes, row_size};
  }

  ElementType type;
  // Elements per example.
  int64_t row_size;
  int64_t row_bytes;
  std::unique_ptr<std::byte[]> data;
};

using Columns = ByArray<Column>;

// Points `out` to the values of example `index` in each column.
void ReadRow(const std::vector<Column>& columns, int64_t index,
             std::vector<Elements>& out) {
  for (size_t i = 0; i < columns.size(); ++i) out[i] = columns[i].Row(index);
}

class ArrayReader : public ExampleReader {
 public:
  ArrayReader(const Columns& columns, int64_t count)
      : columns_(columns), count_(count) {
    example_.features.resize(columns.features.size());
    example_.labels.resize(columns.labels.size());
    example_.weights.resize(columns.weights.size());
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    CHECK(index >= 0 && index < count_);
    ReadRow(columns_.features, index, example_.features);
    ReadRow(columns_.labels, index, example_.labels);
    ReadRow(columns_.weights, index, example_.weights);
    return &example_;
  }

 private:
  const Columns& columns_;
  const int64_t count_;
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
    Elements all = columns_.labels[label].Row(0);
    all.count *= count_;
    return Annotate(paceline::CheckClassIds(all, ids),
                    spec_.labels[label].origin);
  }

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return std::make_unique<ArrayReader>(columns_, count_);
  }

 private:
  const ExampleSpec spec_;
  const Columns columns_;
  const int64_t count_;
};

absl::Status CheckCounts(const std::vector<ArrayToRead>& arrays,
                         CommonCount& count) {
  for (const ArrayToRead& array : arrays) {
    ASSIGN_OR_RETURN(const Shape shape, array.read_shape());
    RETURN_IF_ERROR(count.Add(array.origin, shape));
  }
  return absl::OkStatus();
}

// Adds to `count` again, since a file may have changed after its header was
// read.
absl::Status ReadColumns(const std::vector<ArrayToRead>& arrays,
                         CommonCount& count, std::vector<ArraySpec>& specs,
                         std::vector<Column>& columns) {
  for (const ArrayToRead& array : arrays) {
    ASSIGN_OR_RETURN(StoredArray stored, array.read());
    RETURN_IF_ERROR(count.Add(array.origin, stored.shape));
    Shape of_example(stored.shape.begin() + 1, stored.shape.end());
    specs.push_back(
        {array.name, array.origin, stored.type, std::move(of_example)});
    columns.emplace_back(specs.back(), std::move(stored.data));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> ReadArraySource(
    const ByArray<ArrayToRead>& arrays) {
  CHECK(!arrays.features.empty());
  CommonCount count;
  RETURN_IF_ERROR(CheckCounts(arrays.features, count));
  RETURN_IF_ERROR(CheckCounts(arrays.labels, count));
  RETURN_IF_ERROR(CheckCounts(arrays.weights, count));
  ExampleSpec spec;
  Columns columns;
  RETURN_IF_ERROR(
      ReadColumns(arrays.features, count, spec.features, columns.features));
  RETURN_IF_ERROR(
      ReadColumns(arrays.labels, count, spec.labels, columns.labels));
  RETURN_IF_ERROR(
      ReadColumns(arrays.weights, count, spec.weights, columns.weights));
  return std::make_unique<ArraySource>(std::move(spec), std::move(columns),
                                       count.count());
}

}  // namespace paceline
