// The `save_freq` of ModelCheckpoint and BackupAndRestore.
#ifndef PACELINE_COMMON_CALLBACK_SAVE_FREQUENCY_H_
#define PACELINE_COMMON_CALLBACK_SAVE_FREQUENCY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace paceline {

class Path;
class Value;

// How often to save: "epoch", or a number of batches. See codec.h.
struct SaveFrequency {
  // 0: at the end of each epoch.
  int64_t batches = 0;
};

absl::Status ReadConfig(const Value& value, const Path& path,
                        SaveFrequency& out);
Value WriteConfig(const SaveFrequency& frequency);
std::string ConfigType(const SaveFrequency*);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_SAVE_FREQUENCY_H_
