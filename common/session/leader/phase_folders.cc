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

absl::Status DeleteFinishedCheckpoints(const std::string& output_dir,
                                       const v1::Job& job, int index) {
  ASSIGN_OR_RETURN(const std::vector<std::string> checkpoints,
                   ListCheckpoints(output_dir + "/checkpoint"));
  for (const std::string& checkpoint : checkpoints) {
    // An unusable one is for the caller to find, who may not need it.
    const absl::StatusOr<Manifest> manifest = ReadManifest(checkpoint);
    const auto finished = job.phases().begin() + index;
    if (manifest.ok() && std::any_of(job.phases().begin(), finished,
                                     [&](const v1::TrainingPhase& phase) {
                                       return phase.name() == manifest->phase;
                                     })) {
      RETURN_IF_ERROR(DeleteCheckpoint(checkpoint));
    }
  }
  return absl::OkStatus();
}

absl::Status FinishPhase(const std::string& output_dir, const v1::Job& job,
                         int index) {
  const std::string folder = PhaseFolder(output_dir, job, index);
  RETURN_IF_ERROR(MakeDirectories(folder));
  for (const char* const name :
       {"result.json", "history.csv", "steps.csv", "checkpoint"}) {
    RETURN_IF_ERROR(MoveTo(absl::StrCat(output_dir, "/", name),
                           absl::StrCat(folder, "/", name)));
  }
  RETURN_IF_ERROR(SyncDirectory(folder));
  return SyncDirectory(output_dir);
}

}  // namespace paceline
