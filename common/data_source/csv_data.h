// Examples in the rows of CSV files.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_DATA_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_DATA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/csv_decoder.h"
#include "common/data_source/csv_file.h"
#include "common/data_source/csv_layout.h"
#include "common/data_source/data_source.h"

namespace paceline {

// Each row of the files, in their order, is an example.
class CsvData : public DataSource {
 public:
  // At least one file; all have the columns of the layout.
  CsvData(std::vector<CsvFile> files, const CsvFormat& format, CsvLayout layout,
          std::vector<std::string> missing_texts);

  const std::string& name() const override {
    return layout_.spec.features.front().origin;
  }
  const ExampleSpec& spec() const override { return layout_.spec; }
  int64_t example_count() const override { return count_; }
  absl::Status CheckClassIds(size_t label, const ClassIds& ids) const override;
  std::vector<std::string> ClassNames(size_t label) const override;
  std::string LocationOf(int64_t index) const override;
  FileLayout Files() const override { return {.begins = begins_}; }
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override;

 private:
  class Reader;
  struct FileRow {
    const CsvFile& file;
    int64_t row = 0;
  };

  FileRow RowOf(int64_t index) const;

  const std::vector<CsvFile> files_;
  const CsvFormat format_;
  const CsvLayout layout_;
  const CsvDecoder decoder_;
  // The first example of each file.
  std::vector<int64_t> begins_;
  int64_t count_ = 0;
  int64_t max_row_bytes_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_DATA_H_
