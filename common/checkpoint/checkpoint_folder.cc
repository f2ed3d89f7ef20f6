#include "common/checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/manifest.h"
#include "glog/logging.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr size_t kStepDigits = 12;

// Named "step-000000000938", or "step-000000000938-2" for a second attempt.
struct StepFolder {
  int64_t step = 0;
  int64_t attempt = 1;
  std::string path;

  bool operator<(const StepFolder& other) const {
    return std::tie(step, attempt) < std::tie(other.step, other.attempt);
  }
};

std::string FolderName(int64_t step, int64_t attempt) {
  const std::string name = absl::StrFormat("step-%0*d", kStepDigits, step);
  return attempt == 1 ? name : absl::StrCat(name, "-", attempt);
}

// Whether `name` is that of a step folder; sets step and attempt.
bool ParseFolderName(absl::string_view name, StepFolder& folder) {
  absl::string_view rest = name;
  if (!absl::ConsumePrefix(&rest, "step-")) return false;
  const absl::string_view digits = rest.substr(0, rest.find('-'));
  if (!absl::SimpleAtoi(digits, &folder.step) || folder.step < 0) return false;
  rest.remove_prefix(digits.size());
  if (!rest.empty() && !(absl::ConsumePrefix(&rest, "-") &&
                         absl::SimpleAtoi(rest, &folder.attempt))) {
    return false;
  }
  // Refuse other spellings of the same numbers.
  return folder.attempt >= 1 && name == FolderName(folder.step, folder.attempt);
}

bool HasManifest(const std::string& folder) {
  std::error_code error;
  return fs::exists(folder + "/manifest.json", error);
}

// The step folders in a directory, the latest first; none if the directory does
// not exist.
absl::StatusOr<std::vector<StepFolder>> ListStepFolders(
    const std::string& directory) {
  std::vector<StepFolder> folders;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  if (error == std::errc::no_such_file_or_directory) return folders;
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    StepFolder folder;
    folder.path = entry->path().string();
    if (ParseFolderName(entry->path().filename().string(), folder)) {
      folders.push_back(std::move(folder));
    }
  }
  if (error) {
    return ErrnoError("cannot list", directory, error);
  }
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

bool HasShardFiles(const std::string& folder, const Manifest& manifest) {
  return std::all_of(
      manifest.shards.begin(), manifest.shards.end(),
      [&](const ShardFile& shard) {
        std::error_code error;
        const auto size =
            fs::file_size(absl::StrCat(folder, "/", shard.file), error);
        return !error && static_cast<int64_t>(size) == shard.size_bytes;
      });
}

}  // namespace

bool IsGoodCheckpoint(const std::string& folder) {
  const absl::StatusOr<Manifest> manifest = ReadManifest(folder);
  return manifest.ok() && HasShardFiles(folder, *manifest);
}

absl::StatusOr<std::string> CreateCheckpointFolder(const std::string& directory,
                                                   int64_t step) {
  CHECK_GE(step, 0);
  RETURN_IF_ERROR(MakeDirectories(directory));
  for (int64_t attempt = 1;; ++attempt) {
    const std::string path =
        absl::StrCat(directory, "/", FolderName(step, attempt));
    std::error_code error;
    if (fs::create_directory(path, error)) {
      RETURN_IF_ERROR(SyncDirectory(directory));
      return path;
    }
    if (error) {
      return ErrnoError("cannot create folder", path, error);
    }
  }
}

absl::Status CheckCheckpointName(absl::string_view name) {
  StepFolder folder;
  if (ParseFolderName(name, folder)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", PeerText(name),
                   "\" is no name of a checkpoint; expected one such as \"",
                   FolderName(938, 1), "\" or \"", FolderName(938, 2), "\""));
}

absl::StatusOr<std::vector<std::string>> ListCheckpoints(
    const std::string& directory) {
  ASSIGN_OR_RETURN(const std::vector<StepFolder> folders,
                   ListStepFolders(directory));
  std::vector<std::string> paths;
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    if (HasManifest(folder->path)) paths.push_back(folder->path);
  }
  return paths;
}

absl::StatusOr<std::string> FindLatestCheckpoint(const std::string& directory) {
  std::error_code error;
  if (fs::is_regular_file(directory, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        directory,
        ": is a file; expected a checkpoint, or a folder of checkpoints"));
  }
  ASSIGN_OR_RETURN(std::vector<std::string> candidates,
                   ListCheckpoints(directory));
  if (HasManifest(directory)) candidates.push_back(directory);
  if (candidates.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no complete checkpoint in ", directory));
  }
  RETURN_IF_ERROR(ReadManifest(candidates.back()).status());
  return candidates.back();
}

absl::Status DeleteOldCheckpoints(const std::string& directory, int keep) {
  CHECK_GE(keep, 1);
  ASSIGN_OR_RETURN(const std::vector<StepFolder> folders,
                   ListStepFolders(directory));
  int good = 0;
  std::set<std::string> needed;
  for (const StepFolder& folder : folders) {
    if (good >= keep) {
      if (needed.contains(FolderName(folder.step, folder.attempt))) continue;
      RETURN_IF_ERROR(DeleteCheckpoint(folder.path));
      continue;
    }
    const absl::StatusOr<Manifest> manifest = ReadManifest(folder.path);
    if (!manifest.ok() || !HasShardFiles(folder.path, *manifest)) continue;
    ++good;
    needed.insert(manifest->kept);
  }
  return absl::OkStatus();
}

absl::Status DeleteCheckpoint(const std::string& folder) {
  std::error_code error;
  if (!fs::is_symlink(folder, error)) {
    fs::remove(folder + "/manifest.json", error);
  }
  if (!error) fs::remove_all(folder, error);
  if (error) {
    return ErrnoError("cannot delete", folder, error);
  }
  return absl::OkStatus();
}

}  // namespace paceline
