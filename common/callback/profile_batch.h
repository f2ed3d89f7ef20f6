// The `profile_batch` of TensorBoard.
#ifndef PACELINE_COMMON_CALLBACK_PROFILE_BATCH_H_
#define PACELINE_COMMON_CALLBACK_PROFILE_BATCH_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace paceline {

class Path;
class Value;

// The training steps of which a trace is made: 0 for none, the number of one
// step of the job, from 1, or a pair of the first and the last. See codec.h.
struct ProfileBatch {
  bool is_on() const { return first > 0; }
  bool Contains(int64_t step) const { return first <= step && step <= last; }

  // 0 and 0: none.
  int64_t first = 0;
  int64_t last = 0;
};

absl::Status ReadConfig(const Value& value, const Path& path,
                        ProfileBatch& out);
Value WriteConfig(const ProfileBatch& profile);
std::string ConfigType(const ProfileBatch*);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_PROFILE_BATCH_H_
