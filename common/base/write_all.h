// Writes to files that are open.
#ifndef PACELINE_COMMON_BASE_WRITE_ALL_H_
#define PACELINE_COMMON_BASE_WRITE_ALL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Writes all of `bytes` where the file stands. The error names `path`; some of
// them may be written then. Blocks on the disk.
absl::Status WriteAll(const FileDescriptor& file, const std::string& path,
                      absl::string_view bytes);

// The same from `offset` on.
absl::Status WriteAllAt(const FileDescriptor& file, const std::string& path,
                        uint64_t offset, absl::string_view bytes);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_WRITE_ALL_H_
