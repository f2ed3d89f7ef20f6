// What a program said of why it ended.
#ifndef PACELINE_COMMON_DAEMON_LAST_ERROR_H_
#define PACELINE_COMMON_DAEMON_LAST_ERROR_H_

#include <string>

namespace paceline {

// The last line of the log that begins with "error: ", without that, if it is
// among the last 16 KiB; else "". Blocks on the disk.
std::string LastErrorIn(const std::string& log_path);

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_LAST_ERROR_H_
