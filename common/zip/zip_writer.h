// Writes zip archives with stored (uncompressed) members, by libzip.
#ifndef PACELINE_COMMON_ZIP_ZIP_WRITER_H_
#define PACELINE_COMMON_ZIP_ZIP_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace paceline {

struct ZipContent {
  std::string name;
  int64_t size_bytes = 0;
  // Writes bytes [offset, offset + out.size()) of the member to `out`. Called
  // in the order of the offsets.
  std::function<absl::Status(int64_t offset, absl::Span<std::byte> out)> read;
};

// A member with these bytes.
ZipContent ZipText(std::string name, std::string bytes);

// Writes an archive with these members in this order to `path`, atomically: the
// file is written beside it, synced, and renamed. Memory does not grow with the
// size of the members; above 4 GiB the archive becomes ZIP64. Errors are those
// of `read`, or name the path. Blocks on the disk.
absl::Status WriteZip(const std::string& path, std::vector<ZipContent> members);

}  // namespace paceline

#endif  // PACELINE_COMMON_ZIP_ZIP_WRITER_H_
