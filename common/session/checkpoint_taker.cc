#include "common/session/checkpoint_taker.h"

#include <glog/logging.h>

#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"

namespace paceline {
namespace {

// Whether a holder that ended a checkpoint with this error may still write; see
// VariableHolders::WriteDone.
bool MayStillWrite(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status);
}

// The files have the names that their shards give them, and no other.
absl::Status CheckNames(const std::vector<ShardFile>& files) {
  const int count = static_cast<int>(files.size());
  for (int shard = 0; shard < count; ++shard) {
    const std::string& name = files[shard].file;
    const std::string expected = ShardFileName(shard, count);
    if (name != expected) {
      return absl::InternalError(
          absl::StrCat("shard ", shard, " says that it wrote \"",
                       absl::CHexEscape(absl::string_view(name).substr(
                           0, 2 * expected.size())),
                       "\"; expected ", expected));
    }
  }
  return absl::OkStatus();
}

}  // namespace

CheckpointTaker::CheckpointTaker(std::string directory, int keep,
                                 Manifest manifest, SharedSession& session,
                                 VariableHolders& holders)
    : directory_(std::move(directory)),
      keep_(keep),
      session_(session),
      holders_(holders),
      manifest_(std::move(manifest)) {}

void CheckpointTaker::Take(const TakeCheckpoint& action) {
  absl::StatusOr<std::string> folder =
      CreateCheckpointFolder(directory_, action.step);
  if (!folder.ok()) {
    // Nothing was taken, but training may go on.
    session_.Handle([](Session& session, absl::Time now) {
      session.SnapshotTaken(absl::OkStatus(), now);
    });
    return Report(folder.status());
  }
  folder_ = *std::move(folder);
  manifest_.step = action.step;
  manifest_.session = action.state;
  const std::string name = std::filesystem::path(folder_).filename().string();
  holders_.Snapshot(
      name, [this, name](const absl::StatusOr<std::vector<int64_t>>& steps) {
        if (steps.ok()) Write(name);
        session_.Handle([&](Session& session, absl::Time now) {
          session.SnapshotTaken(steps.status(), now);
        });
      });
}

void CheckpointTaker::Write(const std::string& name) {
  holders_.WriteCheckpoint(name, [this](Files files) {
    MutexLock lock(mutex_);
    files_ = std::make_unique<Files>(std::move(files));
  });
}

void CheckpointTaker::Poll() {
  std::unique_ptr<Files> files;
  {
    MutexLock lock(mutex_);
    files = std::move(files_);
  }
  if (files == nullptr) return;
  const absl::Status status =
      files->ok() ? Complete(**std::move(files)) : files->status();
  if (!status.ok() && !MayStillWrite(status)) {
    const absl::Status deleted = DeleteCheckpoint(folder_);
    if (!deleted.ok()) LOG(WARNING) << deleted.message();
  }
  Report(status);
}

absl::Status CheckpointTaker::Complete(std::vector<ShardFile> files) {
  RETURN_IF_ERROR(CheckNames(files));
  manifest_.shards = std::move(files);
  RETURN_IF_ERROR(WriteManifest(folder_, manifest_));
  // The new one is good, whatever becomes of the old.
  const absl::Status deleted = DeleteOldCheckpoints(directory_, keep_);
  if (!deleted.ok()) LOG(WARNING) << deleted.message();
  return absl::OkStatus();
}

void CheckpointTaker::Report(const absl::Status& status) {
  if (!status.ok()) {
    ++lost_.count;
    lost_.error = std::string(status.message());
  }
  session_.Handle([&](Session& session, absl::Time now) {
    session.CheckpointWritten(status, now);
  });
}

}  // namespace paceline
