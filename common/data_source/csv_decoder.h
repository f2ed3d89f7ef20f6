// Decodes the fields of a CSV row that a job wants.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_DECODER_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/data_source/csv_text.h"

namespace paceline {

// From the name of a class to its id.
using CsvClasses = absl::flat_hash_map<std::string, double>;

// What a column gives.
struct CsvValue {
  // From 0.
  int64_t column = 0;
  // The column in errors: "column \"species\"".
  std::string name = {};
  // If it has names of classes, for their ids; else it has numbers. Must
  // outlive the decoder.
  const CsvClasses* classes = nullptr;
  // The value where the field is missing. nullopt: it may not be.
  std::optional<double> if_missing = std::nullopt;
};

// Immutable; thread-safe.
class CsvDecoder {
 public:
  // `values` may have a column more than once. `missing_texts`: what fields say
  // besides nothing if they are missing.
  CsvDecoder(char delimiter, std::vector<CsvValue> values,
             std::vector<std::string> missing_texts);

  // Writes each value to its index in `out`. InvalidArgument names the column,
  // what it says and what is expected. Needs memory in `scratch` for fields
  // that have quotes twice.
  absl::Status Decode(absl::string_view row, std::string& scratch,
                      double* out) const;

 private:
  struct Target {
    CsvValue value;
    size_t index;
  };

  struct Field {
    absl::string_view text;
    // If it is known already to be one.
    std::optional<double> number;
  };

  Field NextField(CsvFields& fields, std::string& scratch) const;
  absl::Status DecodeText(const CsvValue& value, absl::string_view text,
                          double& out) const;
  bool IsMissing(absl::string_view text) const;

  const char delimiter_;
  const std::vector<std::string> missing_texts_;
  // Whether no number is one of missing_texts_.
  bool numbers_are_there_ = true;
  // By column.
  std::vector<Target> targets_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_DECODER_H_
