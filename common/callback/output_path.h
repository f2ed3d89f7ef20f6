// Paths of files that callbacks write.
#ifndef PACELINE_COMMON_CALLBACK_OUTPUT_PATH_H_
#define PACELINE_COMMON_CALLBACK_OUTPUT_PATH_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/config/path.h"

namespace paceline {

// A path below the job's output folder, without parts that say nothing: "logs"
// for "./logs/". ConfigError at `field` if it is empty, absolute, leads out of
// the folder, or is of a file that the leader writes itself.
absl::StatusOr<std::string> OutputPath(const std::string& text,
                                       const Path& field);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_OUTPUT_PATH_H_
