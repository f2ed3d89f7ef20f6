#include "common/session/checkpoint_taker.h"

#include <glog/logging.h>

#include <utility>

#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"

namespace paceline {

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
  holders_.Snapshot(folder_, [this](const absl::Status& status) {
    if (status.ok()) Write();
    session_.Handle([&](Session& session, absl::Time now) {
      session.SnapshotTaken(status, now);
    });
  });
}

void CheckpointTaker::Write() {
  holders_.WriteCheckpoint(folder_, [this](Files files) {
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
  if (!status.ok()) {
    const absl::Status deleted = DeleteCheckpoint(folder_);
    if (!deleted.ok()) LOG(WARNING) << deleted.message();
  }
  Report(status);
}

absl::Status CheckpointTaker::Complete(std::vector<ShardFile> files) {
  manifest_.shards = std::move(files);
  RETURN_IF_ERROR(WriteManifest(folder_, manifest_));
  // The new one is good, whatever becomes of the old.
  const absl::Status deleted = DeleteOldCheckpoints(directory_, keep_);
  if (!deleted.ok()) LOG(WARNING) << deleted.message();
  return absl::OkStatus();
}

void CheckpointTaker::Report(const absl::Status& status) {
  session_.Handle([&](Session& session, absl::Time now) {
    session.CheckpointWritten(status, now);
  });
}

}  // namespace paceline
