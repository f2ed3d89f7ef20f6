// The pieces in which files and logs of a service's jobs travel.
#ifndef PACELINE_COMMON_TRANSFER_PIECES_H_
#define PACELINE_COMMON_TRANSFER_PIECES_H_

#include <cstddef>

namespace paceline {

// Bytes that the coordinator takes and gives in a call.
inline constexpr size_t kMaxFilePieceBytes = 4 << 20;
inline constexpr size_t kMaxLogPieceBytes = 1 << 20;
// Bytes of a file that are sent in a call: less than the coordinator takes, so
// that one is through before the call's deadline on a slow line, too.
inline constexpr size_t kSentFilePieceBytes = 1 << 20;

// Files that the coordinator takes in a call.
inline constexpr int kMaxFilesInCall = 10'000;
// Files that are told in a call: their paths have up to 1 KiB each, and all
// together fit in its request.
inline constexpr size_t kToldFilesInCall = 3000;

}  // namespace paceline

#endif  // PACELINE_COMMON_TRANSFER_PIECES_H_
