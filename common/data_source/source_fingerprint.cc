#include "common/data_source/source_fingerprint.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/remote_url.h"
#include "common/config/path.h"
#include "common/data_source/sources.h"
#include "common/identity/sha256.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Increment it when a source decodes, or refuses, what it did not before.
constexpr char kDecoders[] = "1";

// Parts of the hash. Each has its length before it, so that no two lists of
// parts are hashed alike.
class Parts {
 public:
  void Add(absl::string_view part) {
    hash_.Update(absl::StrCat(part.size(), ":"));
    hash_.Update(part);
  }
  void AddNumber(int64_t number) { Add(absl::StrCat(number)); }

  std::string Hex() const { return hash_.Hex(); }

 private:
  Sha256 hash_;
};

// Deterministic, since the keys of Structs have no order otherwise.
std::string SerializeSource(const v1::Dataset& dataset) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    dataset.SerializeToCodedStream(&coded);
  }
  return bytes;
}

v1::Dataset SourceWithoutPaths(const v1::Dataset& dataset) {
  v1::Dataset source = SourceOnly(dataset);
  VisitSourceFiles(source, Contents::kFeaturesAndLabels, Path(),
                   [](const Path& /*field*/, std::string& file) {
                     file = file.ends_with('/') ? "folder/" : "file";
                   });
  return source;
}

std::vector<std::string> SourceFilesOf(v1::Dataset dataset) {
  std::vector<std::string> files;
  VisitSourceFiles(dataset, Contents::kFeaturesAndLabels, Path(),
                   [&files](const Path& /*field*/, const std::string& file) {
                     files.push_back(file);
                   });
  return files;
}

void AddState(const std::string& path, Parts& parts) {
  parts.Add(fs::path(path).filename().native());
  struct stat state = {};
  if (stat(path.c_str(), &state) != 0) {
    parts.Add(absl::StrCat("errno ", errno));
    return;
  }
  parts.AddNumber(state.st_size);
  parts.AddNumber(state.st_mtim.tv_sec);
  parts.AddNumber(state.st_mtim.tv_nsec);
}

void AddFiles(const v1::Dataset& named, const v1::Dataset& opened,
              Parts& parts) {
  const std::vector<std::string> names = SourceFilesOf(named);
  const std::vector<std::string> files = SourceFilesOf(opened);
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].ends_with('/')) continue;
    if (i < names.size() && IsRemote(names[i])) {
      // A copy is below a folder with the SHA-256 of its content
      // (cache_entry.h).
      const fs::path path(files[i]);
      parts.Add(path.parent_path().filename().native());
      parts.Add(path.filename().native());
    } else {
      AddState(files[i], parts);
    }
  }
}

void AddArrays(const std::vector<ArraySpec>& arrays, Parts& parts) {
  parts.AddNumber(std::ssize(arrays));
  for (const ArraySpec& array : arrays) {
    parts.Add(array.name);
    parts.Add(ElementTypeName(array.type));
    parts.Add(absl::StrJoin(array.shape, ","));
  }
}

}  // namespace

std::string SourceFingerprint(const v1::Dataset& named,
                              const v1::Dataset& opened,
                              const DataSource& source) {
  Parts parts;
  parts.Add(kDecoders);
  parts.Add(SerializeSource(SourceWithoutPaths(named)));
  AddFiles(named, opened, parts);
  source.VisitFolderFiles(
      [&parts](const std::string& path) { AddState(path, parts); });
  parts.AddNumber(source.example_count());
  AddArrays(source.spec().features, parts);
  AddArrays(source.spec().labels, parts);
  AddArrays(source.spec().weights, parts);
  for (size_t i = 0; i < source.spec().labels.size(); ++i) {
    for (const std::string& name : source.ClassNames(i)) parts.Add(name);
  }
  for (int64_t i = 0; i < source.example_count(); ++i) {
    const std::optional<int64_t> known = source.KnownClass(i);
    if (!known) break;
    parts.AddNumber(*known);
  }
  return parts.Hex();
}

std::string FilesFingerprint(const v1::Dataset& named,
                             const v1::Dataset& opened) {
  Parts parts;
  AddFiles(named, opened, parts);
  return parts.Hex();
}

}  // namespace paceline
