#include "common/daemon/output_shipper.h"

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/errno_error.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"
#include "common/identity/sha256.h"
#include "common/rpc/transient_error.h"
#include "common/transfer/job_paths.h"
#include "common/transfer/pieces.h"
#include "common/transfer/send_file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "manifest.json";

bool IsTemporary(const std::string& name) {
  return absl::StartsWith(name, ".") || absl::EndsWith(name, ".tmp") ||
         absl::StrContains(name, ".tmp.");
}

// Adds to `errors`, of which one is told. No room comes first: it is the error
// that may pass, so that trying again is worth while.
void Note(const absl::Status& status, absl::Status& errors) {
  if (absl::IsResourceExhausted(status)) errors = status;
  errors.Update(status);
}

// Whether it is a folder itself, and no link to one.
bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

}  // namespace

absl::StatusOr<OutputShipper::Files> OutputShipper::List(
    const std::string& path) const {
  Files files;
  const fs::path root = fs::path(folder_) / path;
  if (!IsFolder(root)) return files;
  std::error_code error;
  fs::recursive_directory_iterator entry(root, error);
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    // What vanishes meanwhile has an error, and is left out.
    std::error_code gone;
    const fs::file_type type = entry->symlink_status(gone).type();
    const std::string name = entry->path().filename().string();
    if (type == fs::file_type::directory && absl::StartsWith(name, ".")) {
      entry.disable_recursion_pending();
    }
    const std::string path_in_job =
        fs::path(entry->path()).lexically_relative(folder_).string();
    if (type != fs::file_type::regular || IsTemporary(name) ||
        !IsJobPath(path_in_job)) {
      continue;
    }
    Version version;
    version.size = entry->file_size(gone);
    if (!gone) version.time = entry->last_write_time(gone);
    if (gone) continue;
    files[path_in_job] = version;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoError("cannot list", root.string(), error);
  }
  return files;
}

bool OutputShipper::HasManifest(const Files& files,
                                const std::string& checkpoint) {
  return files.contains(absl::StrCat(checkpoint, "/", kManifest));
}

void OutputShipper::SkipPresent() {
  absl::StatusOr<Files> files = List(kOutputFolder);
  if (files.ok()) shipped_ = *std::move(files);
}

absl::Status OutputShipper::ShipCheckpoints() {
  const fs::path root = fs::path(folder_) / kCheckpointFolder;
  if (!IsFolder(fs::path(folder_) / kOutputFolder) || !IsFolder(root)) {
    return absl::OkStatus();
  }
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(root, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (IsFolder(entry->path())) {
      names.push_back(entry->path().filename().string());
    }
  }
  // The older first: a checkpoint may need the variables of an older one that
  // is kept (Manifest::kept).
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(kCheckpointFolder, "/", name);
    ASSIGN_OR_RETURN(const Files files, List(path));
    if (!HasManifest(files, path)) continue;
    const absl::Status shipped = Ship(files, /*all_or_none=*/true);
    // The leader may have deleted it meanwhile.
    ASSIGN_OR_RETURN(const Files left, List(path));
    if (HasManifest(left, path)) RETURN_IF_ERROR(shipped);
  }
  // The leader deletes old checkpoints.
  ASSIGN_OR_RETURN(const Files present, List(kCheckpointFolder));
  // At the end of a phase it moves all of them, and only ShipAll ships those.
  if (!IsFolder(root)) return absl::OkStatus();
  // While one is not shipped yet, what is shipped still needs what was deleted
  // in its favour.
  for (const auto& [path, version] : present) {
    if (absl::EndsWith(path, absl::StrCat("/", kManifest)) &&
        !shipped_.contains(path)) {
      return absl::OkStatus();
    }
  }
  return Forget(kCheckpointFolder, present);
}

absl::Status OutputShipper::ShipAll() {
  if (!IsFolder(folder_)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Files files, List(kOutputFolder));
  // By folder; other files under "".
  std::map<std::string, Files> checkpoints;
  for (const auto& [path, version] : files) {
    checkpoints[std::string(CheckpointOf(path))][path] = version;
  }
  absl::Status errors;
  for (const auto& [folder, group] : checkpoints) {
    const bool is_checkpoint = !folder.empty();
    if (is_checkpoint && !HasManifest(group, folder)) continue;
    const absl::Status status = Ship(group, is_checkpoint);
    if (IsTransient(status)) return status;
    Note(status, errors);
  }
  Note(Forget(kOutputFolder, files), errors);
  return errors;
}

absl::Status OutputShipper::Forget(const std::string& path,
                                   const Files& present) {
  v1::AddOutputsRequest request;
  *request.mutable_task() = task_;
  const std::string prefix = absl::StrCat(path, "/");
  for (const auto& [known, version] : shipped_) {
    if (absl::StartsWith(known, prefix) && !present.contains(known) &&
        request.removed_size() < static_cast<int>(kToldFilesInCall)) {
      request.add_removed(known);
    }
  }
  if (request.removed().empty()) return absl::OkStatus();
  RETURN_IF_ERROR(client_.AddOutputs(request).status());
  for (const std::string& known : request.removed()) shipped_.erase(known);
  return absl::OkStatus();
}

absl::Status OutputShipper::Ship(const Files& files, bool all_or_none) {
  std::vector<v1::JobFile> changed;
  absl::Status errors;
  for (const auto& [path, version] : files) {
    const auto known = shipped_.find(path);
    if (known != shipped_.end() && known->second == version) continue;
    absl::StatusOr<v1::JobFile> file =
        HashFile(absl::StrCat(folder_, "/", path), path);
    if (file.ok()) {
      changed.push_back(*std::move(file));
    } else {
      Note(file.status(), errors);
    }
  }
  for (size_t begin = 0; begin < changed.size(); begin += kToldFilesInCall) {
    const size_t end = std::min(begin + kToldFilesInCall, changed.size());
    ASSIGN_OR_RETURN(
        const std::vector<v1::JobFile> uploaded,
        Upload({&changed[begin], &changed[begin] + (end - begin)}, errors));
    if (uploaded.empty() || (all_or_none && !errors.ok())) continue;
    v1::AddOutputsRequest request;
    *request.mutable_task() = task_;
    request.mutable_files()->Add(uploaded.begin(), uploaded.end());
    RETURN_IF_ERROR(client_.AddOutputs(request).status());
    for (const v1::JobFile& file : uploaded) {
      shipped_[file.path()] = files.at(file.path());
    }
  }
  return errors;
}

absl::StatusOr<std::vector<v1::JobFile>> OutputShipper::Upload(
    const std::vector<v1::JobFile>& files, absl::Status& errors) {
  v1::FindFilesRequest request;
  for (const v1::JobFile& file : files) request.add_sha256(file.sha256());
  ASSIGN_OR_RETURN(const v1::FindFilesResponse found,
                   client_.FindFiles(request));
  if (found.files_size() != static_cast<int>(files.size())) {
    return absl::InternalError(absl::StrCat(
        "FindFiles to ", client_.description(), ": ", found.files_size(),
        " files in the answer, expected ", files.size()));
  }
  std::vector<v1::JobFile> uploaded;
  // Several files may have the same content.
  std::set<std::string> complete;
  for (size_t i = 0; i < files.size(); ++i) {
    const v1::JobFile& file = files[i];
    const v1::FileProgress& progress = found.files(static_cast<int>(i));
    if (!progress.is_complete() && !complete.contains(file.sha256())) {
      const absl::Status status =
          Annotate(UploadFile(file, progress), file.path());
      if (IsTransient(status)) return status;
      Note(status, errors);
      if (!status.ok()) continue;
    }
    complete.insert(file.sha256());
    uploaded.push_back(file);
  }
  return uploaded;
}

absl::Status OutputShipper::UploadFile(const v1::JobFile& file,
                                       const v1::FileProgress& progress) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> content,
                   OpenRandomAccess(absl::StrCat(folder_, "/", file.path())));
  return SendFile(
      file.path(), *content, file, progress,
      [this](const v1::PutFileRequest& piece)
          -> absl::StatusOr<v1::PutFileResponse> {
        ASSIGN_OR_RETURN(v1::PutFileResponse answer, client_.PutFile(piece));
        if (answer.pause_micros() == 0) return answer;
        return absl::UnavailableError(
            absl::StrCat(client_.description(), " takes no more now"));
      });
}

}  // namespace paceline
