#include "common/session/leader/phase_folders.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/manifest.h"

namespace paceline {
namespace {

// Moves a file or folder, if it is there, and replaces what `to` is.
absl::Status MoveTo(const std::string& from, const std::string& to) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(from, error);
  if (error) return ErrnoError("cannot look at", from, error);
  if (!is_there) return absl::OkStatus();
  std::filesystem::remove_all(to, error);
  if (error) return ErrnoError("cannot delete", to, error);
  std::filesystem::rename(from, to, error);
  return error
             ? ErrnoError(absl::StrCat("cannot move ", from, " to"), to, error)
             : absl::OkStatus();
}

// Whether the checkpoint is of a phase before `index`. An unusable one is not:
// it is for those to find who need it.
bool IsOfFinishedPhase(const std::string& checkpoint, const v1::Job& job,
                       int index) {
  const absl::StatusOr<Manifest> manifest = ReadManifest(checkpoint);
  return manifest.ok() &&
         std::any_of(job.phases().begin(), job.phases().begin() + index,
                     [&](const v1::TrainingPhase& phase) {
                       return phase.name() == manifest->phase;
                     });
}

}  // namespace

std::string PhaseFolder(const std::string& output_dir, const v1::Job& job,
                        int index) {
  return absl::StrCat(output_dir, "/phases/", job.phases(index).name());
}

absl::StatusOr<int> UnfinishedPhase(const std::string& output_dir,
                                    const v1::Job& job) {
  for (int i = 0; i + 1 < job.phases_size(); ++i) {
    const absl::StatusOr<std::string> checkpoint =
        FindLatestCheckpoint(PhaseFolder(output_dir, job, i) + "/checkpoint");
    if (absl::IsNotFound(checkpoint.status())) return i;
    RETURN_IF_ERROR(checkpoint.status());
    if (!IsGoodCheckpoint(*checkpoint)) return i;
  }
  return job.phases_size() - 1;
}

absl::StatusOr<std::string> FindUnfinishedCheckpoint(
    const std::string& output_dir, const v1::Job& job, int index) {
  const std::string folder = output_dir + "/checkpoint";
  ASSIGN_OR_RETURN(std::vector<std::string> checkpoints,
                   ListCheckpoints(folder));
  std::erase_if(checkpoints, [&](const std::string& checkpoint) {
    return IsOfFinishedPhase(checkpoint, job, index);
  });
  if (checkpoints.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "there is no checkpoint of an unfinished phase in ", folder));
  }
  RETURN_IF_ERROR(ReadManifest(checkpoints.back()).status());
  return checkpoints.back();
}

absl::Status DeleteFinishedCheckpoints(const std::string& output_dir,
                                       const v1::Job& job, int index) {
  ASSIGN_OR_RETURN(const std::vector<std::string> checkpoints,
                   ListCheckpoints(output_dir + "/checkpoint"));
  for (const std::string& checkpoint : checkpoints) {
    if (!IsOfFinishedPhase(checkpoint, job, index)) continue;
    RETURN_IF_ERROR(DeleteCheckpoint(checkpoint));
  }
  return absl::OkStatus();
}

absl::Status FinishPhase(const std::string& output_dir, const v1::Job& job,
                         int index) {
  const std::string folder = PhaseFolder(output_dir, job, index);
  RETURN_IF_ERROR(MakeDirectories(folder));
  // What is moved must not be lost with a folder that is not on disk.
  RETURN_IF_ERROR(SyncDirectory(output_dir + "/phases"));
  RETURN_IF_ERROR(SyncDirectory(output_dir));
  for (const char* const name :
       {"result.json", "history.csv", "steps.csv", "checkpoint"}) {
    RETURN_IF_ERROR(MoveTo(absl::StrCat(output_dir, "/", name),
                           absl::StrCat(folder, "/", name)));
  }
  RETURN_IF_ERROR(SyncDirectory(folder));
  return SyncDirectory(output_dir);
}

}  // namespace paceline
