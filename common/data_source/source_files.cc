#include "common/data_source/source_files.h"

#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"

namespace paceline {

absl::Status Codec<SourceFiles>::Read(const Value& value, const Path& path,
                                      SourceFiles& out) {
  if (!value.is_list()) {
    out.files.resize(1);
    return Codec<FilePath>::Read(value, path, out.files[0]);
  }
  const size_t count = value.as_list().size();
  if (count >= 1 && count <= kMaxSourceFiles) {
    return Codec<std::vector<FilePath>>::Read(value, path, out.files);
  }
  return ConfigError(path, absl::StrFormat("expected 1 to %d paths, got %d",
                                           kMaxSourceFiles, count));
}

Value Codec<SourceFiles>::Write(const SourceFiles& m) {
  if (m.files.size() == 1) return Codec<FilePath>::Write(m.files[0]);
  return Codec<std::vector<FilePath>>::Write(m.files);
}

void Codec<SourceFiles>::VisitFiles(SourceFiles& m, const Path& path,
                                    FileVisitor visit) {
  if (m.files.size() == 1) {
    return Codec<FilePath>::VisitFiles(m.files[0], path, visit);
  }
  Codec<std::vector<FilePath>>::VisitFiles(m.files, path, visit);
}

}  // namespace paceline
