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

// The features or the labels of a source.
struct Columns {
  std::vector<ArraySpec> specs;
  std::vector<Column> columns;
};

// Points `out` to the values of example `index` in each column.
void ReadRow(const std::vector<Column>& columns, int64_t index,
             std::vector<Elements>& out) {
  for (size_t i = 0; i < columns.size(); ++i) out[i] = columns[i].Row(index);
}

class ArrayReader : public ExampleReader {
 public:
  ArrayReader(const std::vector<Column>& features,
              const std::vector<Column>& labels, int64_t count)
      : features_(features), labels_(labels), count_(count) {
    example_.features.resize(features.size());
    example_.labels.resize(labels.size());
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    CHECK(index >= 0 && index < count_);
    ReadRow(features_, index, example_.features);
    ReadRow(labels_, index, example_.labels);
    return &example_;
  }

 private:
  const std::vector<Column>& features_;
  const std::vector<Column>& labels_;
  const int64_t count_;
  Example example_;
};

class ArraySource : public DataSource {
 public:
  ArraySource(Columns features, Columns labels, int64_t count)
      : spec_({std::move(features.specs), std::move(labels.specs)}),
        features_(std::move(features.columns)),
        labels_(std::move(labels.columns)),
        count_(count) {}

  const std::string& name() const override {
    return spec_.features.front().origin;
  }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return count_; }

  absl::Status CheckClassIds(size_t label, int64_t class_count) const override {
    Elements all = labels_[label].Row(0);
    all.count *= count_;
    return Annotate(paceline::CheckClassIds(all, class_count),
                    spec_.labels[label].origin);
  }

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return std::make_unique<ArrayReader>(features_, labels_, count_);
  }

 private:
  const ExampleSpec spec_;
  const std::vector<Column> features_;
  const std::vector<Column> labels_;
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
absl::StatusOr<Columns> ReadColumns(const std::vector<ArrayToRead>& arrays,
                                    CommonCount& count) {
  Columns columns;
  for (const ArrayToRead& array : arrays) {
    ASSIGN_OR_RETURN(StoredArray stored, array.read());
    RETURN_IF_ERROR(count.Add(array.origin, stored.shape));
    Shape of_example(stored.shape.begin() + 1, stored.shape.end());
    columns.specs.push_back(
        {array.name, array.origin, stored.type, std::move(of_example)});
    columns.columns.emplace_back(columns.specs.back(), std::move(stored.data));
  }
  return columns;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> ReadArraySource(
    const std::vector<ArrayToRead>& features,
    const std::vector<ArrayToRead>& labels) {
  CHECK(!features.empty());
  CommonCount count;
  RETURN_IF_ERROR(CheckCounts(features, count));
  RETURN_IF_ERROR(CheckCounts(labels, count));
  ASSIGN_OR_RETURN(Columns feature_columns, ReadColumns(features, count));
  ASSIGN_OR_RETURN(Columns label_columns, ReadColumns(labels, count));
  return std::make_unique<ArraySource>(std::move(feature_columns),
                                       std::move(label_columns), count.count());
}

}  // namespace paceline
