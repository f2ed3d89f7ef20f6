#include "common/data_source/csv_data.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/data_source/csv_window.h"
#include "glog/logging.h"

namespace paceline {

class CsvData::Reader : public ExampleReader {
 public:
  explicit Reader(const CsvData& data)
      : data_(data),
        cursor_{CsvWindow(data.format_.delimiter, data.max_row_bytes_)},
        values_(data.layout_.values.size()) {
    scratch_.reserve(static_cast<size_t>(data.max_row_bytes_));
    const ExampleSpec& spec = data.spec();
    const double* next = values_.data();
    next = PointTo(next, spec.features, example_.features);
    next = PointTo(next, spec.labels, example_.labels);
    next = PointTo(next, spec.weights, example_.weights);
    CHECK_EQ(next - values_.data(), std::ssize(values_));
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    CHECK(index >= 0 && index < data_.count_);
    const auto [file, row] = data_.RowOf(index);
    const absl::Status status = ReadValues(file, row);
    if (!status.ok()) return file.Locate(status, row);
    return &example_;
  }

 private:
  // Points arrays to the values that begin at `next`; returns their end.
  static const double* PointTo(const double* next,
                               const std::vector<ArraySpec>& specs,
                               std::vector<Elements>& arrays) {
    for (const ArraySpec& spec : specs) {
      const int64_t count = NumElements(spec.shape);
      arrays.push_back(
          {spec.type, reinterpret_cast<const std::byte*>(next), count});
      next += count;
    }
    return next;
  }

  absl::Status ReadValues(const CsvFile& file, int64_t row) {
    ASSIGN_OR_RETURN(const absl::string_view text, file.ReadRow(row, cursor_));
    return data_.decoder_.Decode(text, scratch_, values_.data());
  }

  const CsvData& data_;
  CsvCursor cursor_;
  std::string scratch_;
  std::vector<double> values_;
  Example example_;
};

CsvData::CsvData(std::vector<CsvFile> files, const CsvFormat& format,
                 CsvLayout layout, std::vector<std::string> missing_texts)
    : files_(std::move(files)),
      format_(format),
      layout_(std::move(layout)),
      decoder_(format.delimiter, layout_.values, std::move(missing_texts)) {
  for (const CsvFile& file : files_) {
    begins_.push_back(count_);
    count_ += file.row_count();
    max_row_bytes_ = std::max(max_row_bytes_, file.max_row_bytes());
  }
}

CsvData::FileRow CsvData::RowOf(int64_t index) const {
  const auto behind = std::upper_bound(begins_.begin(), begins_.end(), index);
  const auto number = static_cast<size_t>(behind - begins_.begin() - 1);
  return {files_[number], index - begins_[number]};
}

std::string CsvData::LocationOf(int64_t index) const {
  const FileRow place = RowOf(index);
  const absl::StatusOr<int64_t> line = place.file.LineOf(place.row);
  return line.ok() ? absl::StrCat(place.file.path(), ":", *line)
                   : place.file.path();
}

absl::Status CsvData::CheckClassIds(size_t label, const ClassIds& ids) const {
  const ArraySpec& labels = layout_.spec.labels[label];
  const CsvClasses* classes = layout_.ClassesOf(labels.name);
  if (classes == nullptr || std::ssize(*classes) <= ids.count) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: `classes` has %d names, expected at most the %d of the model",
      labels.origin, classes->size(), ids.count));
}

std::vector<std::string> CsvData::ClassNames(size_t label) const {
  const CsvClasses* classes =
      layout_.ClassesOf(layout_.spec.labels[label].name);
  // Positions of a vector of columns are not the classes of their values.
  const bool is_one_value = layout_.spec.labels[label].shape.empty();
  if (classes == nullptr || !is_one_value) return {};
  std::vector<std::string> names(classes->size());
  for (const auto& [name, id] : *classes) names[static_cast<size_t>(id)] = name;
  return names;
}

absl::StatusOr<std::unique_ptr<ExampleReader>> CsvData::MakeReader() const {
  return std::make_unique<Reader>(*this);
}

}  // namespace paceline
