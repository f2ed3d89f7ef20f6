// The `update_freq` of TensorBoard.
#ifndef PACELINE_COMMON_CALLBACK_UPDATE_FREQUENCY_H_
#define PACELINE_COMMON_CALLBACK_UPDATE_FREQUENCY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/callback/callback.h"

namespace paceline {

class Path;
class Value;

// "epoch", "batch" or a number of steps. See codec.h.
struct UpdateFrequency {
  // 0: only epochs.
  int64_t steps = 0;

  // The step, by its number in the job from 1, of which values of batches are
  // written: the group's last one, since the values are those up to it, if they
  // are due at a step of the group. nullopt: they are not.
  std::optional<int64_t> StepIn(const BatchEnd& group) const;
};

absl::Status ReadConfig(const Value& value, const Path& path,
                        UpdateFrequency& out);
Value WriteConfig(const UpdateFrequency& frequency);
std::string ConfigType(const UpdateFrequency*);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_UPDATE_FREQUENCY_H_
