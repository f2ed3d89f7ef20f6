#include "common/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace paceline {

uint32_t ExtendCrc32c(uint32_t crc, absl::Span<const std::byte> bytes) {
  // The library counts in int.
  constexpr size_t kMostAtOnce = 1 << 30;
  // It neither begins nor ends with the inversion.
  crc = ~crc;
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), kMostAtOnce);
    // It only reads them.
    auto* const data = const_cast<unsigned char*>(
        reinterpret_cast<const unsigned char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(count), crc);
    bytes.remove_prefix(count);
  }
  return ~crc;
}

uint32_t MaskCrc32c(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace paceline
