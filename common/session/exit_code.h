// Exit codes of a leader's process.
#ifndef PACELINE_COMMON_SESSION_EXIT_CODE_H_
#define PACELINE_COMMON_SESSION_EXIT_CODE_H_

namespace paceline {

inline constexpr int kSuccess = 0;
// The job failed.
inline constexpr int kJobFailed = 1;
// Wrong use, or a bad job or data file found before step 1.
inline constexpr int kBadInput = 2;
// Stopped by the user.
inline constexpr int kStopped = 130;

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_EXIT_CODE_H_
