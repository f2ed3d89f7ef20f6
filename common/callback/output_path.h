// Paths of files that callbacks write.
#ifndef PACELINE_COMMON_CALLBACK_OUTPUT_PATH_H_
#define PACELINE_COMMON_CALLBACK_OUTPUT_PATH_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"

namespace paceline {

// A path below the job's output folder, without parts that say nothing: "logs"
// for "./logs/". ConfigError at `field` if it is empty, absolute, leads out of
// the folder, or is of a file that the leader writes itself.
absl::StatusOr<std::string> OutputPath(const std::string& text,
                                       const Path& field);

inline constexpr char kWeightsSuffix[] = ".weights.h5";
inline constexpr char kLegacySuffix[] = ".h5";

// Whether the file of a model may have this path: of only its weights one that
// ends in `.weights.h5`, else in `.keras`, or in `.h5` of a legacy file.
bool IsModelPath(absl::string_view path, bool is_weights_only);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_OUTPUT_PATH_H_
