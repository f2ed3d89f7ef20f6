// The path of a folder in a configuration.
#ifndef PACELINE_COMMON_CONFIG_FOLDER_PATH_H_
#define PACELINE_COMMON_CONFIG_FOLDER_PATH_H_

#include <string>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// VisitFiles visits it, as it does the path of a file. It ends in "/", which
// tells it from that of a file.
struct FolderPath {
  std::string text;
};

template <>
struct Codec<FolderPath> {
  static absl::Status Read(const Value& value, const Path& path,
                           FolderPath& out) {
    RETURN_IF_ERROR(Codec<std::string>::Read(value, path, out.text));
    if (!out.text.empty() && out.text.back() != '/') out.text += '/';
    return absl::OkStatus();
  }
  static Value Write(const FolderPath& m) { return m.text; }
  static std::string Type() { return "path"; }
  static void VisitFiles(FolderPath& m, const Path& path, FileVisitor visit) {
    visit(path, m.text);
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_FOLDER_PATH_H_
