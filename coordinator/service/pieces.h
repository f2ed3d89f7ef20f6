// Sizes of the pieces in which files and logs travel, in bytes.
#ifndef PACELINE_COORDINATOR_SERVICE_PIECES_H_
#define PACELINE_COORDINATOR_SERVICE_PIECES_H_

#include <cstddef>

namespace paceline {

inline constexpr size_t kMaxFilePieceBytes = 4 << 20;
inline constexpr size_t kMaxLogPieceBytes = 1 << 20;

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_PIECES_H_
