#include "common/daemon/job_folder.h"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/identity/sha256.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// "a/b" of "a/b/c"; "" of "c".
std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// What a job's folder has, as relative paths.
struct Tree {
  std::set<std::string> files;
  std::set<std::string> folders;

  explicit Tree(const JobFiles& listed) {
    for (const v1::JobFile& file : listed) {
      files.insert(file.path());
      for (std::string folder = ParentOf(file.path()); !folder.empty();
           folder = ParentOf(folder)) {
        folders.insert(folder);
      }
    }
  }
};

// Removes what the tree does not have from the folder `path` of it, "": the
// root. No link stays.
absl::Status Sweep(const fs::path& root, const std::string& path,
                   const Tree& tree) {
  std::error_code error;
  fs::directory_iterator entry(root / path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string below =
        path.empty() ? name : absl::StrCat(path, "/", name);
    const fs::file_type type = entry->symlink_status(error).type();
    if (error) break;
    if (type == fs::file_type::directory && tree.folders.contains(below)) {
      RETURN_IF_ERROR(Sweep(root, below, tree));
    } else if (type != fs::file_type::regular || !tree.files.contains(below)) {
      fs::remove_all(entry->path(), error);
      if (error) {
        return ErrnoError("cannot remove", entry->path().string(), error);
      }
    }
  }
  if (error) return ErrnoError("cannot list", (root / path).string(), error);
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, const v1::JobFile& file,
                       const ReadPiece& read) {
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> out,
                   AtomicFile::Create(path));
  Sha256 hash;
  uint64_t size = 0;
  while (size < file.size_bytes()) {
    ASSIGN_OR_RETURN(const std::string piece, read(file.sha256(), size));
    if (piece.empty()) break;
    RETURN_IF_ERROR(out->Append(piece));
    hash.Update(piece);
    size += piece.size();
  }
  if (size != file.size_bytes() || hash.Hex() != file.sha256()) {
    return absl::DataLossError(absl::StrCat(
        path, ": ", size, " bytes with the SHA-256 ", hash.Hex(),
        " came; expected ", file.size_bytes(), " with ", file.sha256()));
  }
  return out->Commit();
}

}  // namespace

absl::Status FillJobFolder(const std::string& folder, const JobFiles& files,
                           const ReadPiece& read) {
  RETURN_IF_ERROR(CheckJobFiles("files", files));
  const Tree tree(files);
  RETURN_IF_ERROR(MakeDirectories(folder));
  RETURN_IF_ERROR(Sweep(folder, "", tree));
  for (const std::string& below : tree.folders) {
    RETURN_IF_ERROR(MakeDirectories(absl::StrCat(folder, "/", below)));
  }
  // In this order "a" comes before "a.tmp", whose place it takes for a moment.
  std::map<std::string, const v1::JobFile*> by_path;
  for (const v1::JobFile& file : files) by_path[file.path()] = &file;
  for (const auto& [name, file] : by_path) {
    const std::string path = absl::StrCat(folder, "/", name);
    if (!HasContentOf(*file, path))
      RETURN_IF_ERROR(WriteFile(path, *file, read));
  }
  return absl::OkStatus();
}

}  // namespace paceline
