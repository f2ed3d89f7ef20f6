// The progress of a job as a message, which its leader writes and others draw.
#ifndef PACELINE_COMMON_PROGRESS_PROGRESS_MESSAGE_H_
#define PACELINE_COMMON_PROGRESS_PROGRESS_MESSAGE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "common/progress/progress_style.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Ended epochs that a message tells of: those of a fraction of a second.
inline constexpr int kMaxEndedEpochs = 32;
// Values in an epoch's logs, and bytes of a name.
inline constexpr int kMaxLoggedValues = 256;
inline constexpr size_t kMaxLogNameBytes = 256;
// Of a whole message.
inline constexpr int64_t kMaxProgressBytes = 32 << 10;

v1::EpochProgress ToProto(const EpochProgress& progress);
// `is_end`: the epoch has ended.
EpochProgress FromProto(const v1::EpochProgress& message, bool is_end);

// InvalidArgument names the field that no leader writes: a number with which
// nothing can be drawn, or a name that would change more on a terminal than the
// bar.
absl::Status CheckJobProgress(const v1::JobProgress& message);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROGRESS_PROGRESS_MESSAGE_H_
