// Links in folders of data.
#ifndef PACELINE_COMMON_DATA_SOURCE_FOLDER_LINKS_H_
#define PACELINE_COMMON_DATA_SOURCE_FOLDER_LINKS_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Whether `path` is `folder`, or below it. Both are canonical.
bool IsWithin(const std::filesystem::path& path,
              const std::filesystem::path& folder);

// Where the open file is, as the kernel says. `path`: for errors.
absl::StatusOr<std::filesystem::path> PathOf(const FileDescriptor& file,
                                             const std::string& path);

// Where `path` leads, once all links are followed. InvalidArgument if that is
// outside the folder, which is canonical; NotFound, or what else the file
// system says. Errors name `path`.
absl::StatusOr<std::filesystem::path> TargetWithin(
    const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_FOLDER_LINKS_H_
