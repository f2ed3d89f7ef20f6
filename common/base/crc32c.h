// CRC-32C, the checksum of TensorFlow's and LevelDB's files.
#ifndef PACELINE_COMMON_BASE_CRC32C_H_
#define PACELINE_COMMON_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace paceline {

// Of what `crc` is the checksum of (0: nothing), followed by `bytes`.
uint32_t ExtendCrc32c(uint32_t crc, absl::Span<const std::byte> bytes);

// As a file stores it: so that the checksum of bytes with a checksum in them is
// an ordinary one.
uint32_t MaskCrc32c(uint32_t crc);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_CRC32C_H_
