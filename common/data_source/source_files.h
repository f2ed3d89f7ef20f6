// The files of a source that reads one or several.
#ifndef PACELINE_COMMON_DATA_SOURCE_SOURCE_FILES_H_
#define PACELINE_COMMON_DATA_SOURCE_SOURCE_FILES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Files that a source keeps open at a time.
inline constexpr size_t kMaxSourceFiles = 4096;

// A file, or several whose examples follow each other.
struct SourceFiles {
  // 1 to kMaxSourceFiles.
  std::vector<FilePath> files;

  // How many offsets of rows or records a source may keep for each file
  // (RowOffsets): 8 MiB for all of them.
  size_t OffsetsOfEach() const { return kMaxOffsets / files.size() / 2 * 2; }

 private:
  static constexpr size_t kMaxOffsets = size_t{1} << 20;
};

template <>
struct Codec<SourceFiles> {
  static absl::Status Read(const Value& value, const Path& path,
                           SourceFiles& out);
  static Value Write(const SourceFiles& m);
  static std::string Type() { return "path or list of paths"; }
  static void VisitFiles(SourceFiles& m, const Path& path, FileVisitor visit);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_SOURCE_FILES_H_
