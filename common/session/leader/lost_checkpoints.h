// What result.json says about checkpoints that could not be written.
#ifndef PACELINE_COMMON_SESSION_LEADER_LOST_CHECKPOINTS_H_
#define PACELINE_COMMON_SESSION_LEADER_LOST_CHECKPOINTS_H_

#include <cstdint>
#include <string>

namespace paceline {

struct LostCheckpoints {
  int64_t count = 0;
  // Why the last lost checkpoint failed.
  std::string error;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_LOST_CHECKPOINTS_H_
