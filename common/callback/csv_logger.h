// Writes a row of values for each epoch, as keras.callbacks.CSVLogger does.
#ifndef PACELINE_COMMON_CALLBACK_CSV_LOGGER_H_
#define PACELINE_COMMON_CALLBACK_CSV_LOGGER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/callback.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
class FieldTable;

// The bytes are those of Keras: the epoch from 0, then the keys of the first
// epoch's logs, sorted; without one of validation among them also "val_<key>"
// of each. A value that an epoch lacks is NA, rows end in \r\n, and numbers are
// written so that they read as the same float64.
class CsvLogger final : public Callback {
 public:
  static constexpr char kClassName[] = "CSVLogger";
  static const FieldTable<CsvLogger>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> output_paths() const override { return {filename}; }
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;
  nlohmann::json Save() const override;
  absl::Status Restore(const ObjectReader& state) override;

  std::string filename;
  // A character.
  std::string separator = ",";
  bool append = false;

 private:
  std::string Row(const std::vector<std::string>& cells) const;

  // Bytes of the file as the run begins; nullopt: there are no files.
  std::optional<int64_t> size_;
  // Where the next row goes.
  int64_t offset_ = 0;
  // The columns after the epoch; nullopt before the first.
  std::optional<std::vector<std::string>> keys_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_CSV_LOGGER_H_
