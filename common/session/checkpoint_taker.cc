#include "common/session/checkpoint_taker.h"

#include <glog/logging.h>

#include <utility>

#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/limits.h"

namespace paceline {

CheckpointTaker::CheckpointTaker(std::string directory, int keep,
                                 Manifest manifest, SharedSession& session,
                                 ShardCalls& shards)
    : directory_(std::move(directory)),
      keep_(keep),
      session_(session),
      shards_(shards),
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
  shards_.Snapshot(
      folder_, limits::kPsTimeout,
      [this](const absl::StatusOr<std::vector<v1::SnapshotResponse>>& answers) {
        if (answers.ok()) Write();
        session_.Handle([&](Session& session, absl::Time now) {
          session.SnapshotTaken(answers.status(), now);
        });
      });
}

void CheckpointTaker::Write() {
  shards_.WriteCheckpoint(
      folder_, limits::kCheckpointTimeout, [this](Answers answers) {
        MutexLock lock(mutex_);
        answers_ = std::make_unique<Answers>(std::move(answers));
      });
}

void CheckpointTaker::Poll() {
  std::unique_ptr<Answers> answers;
  {
    MutexLock lock(mutex_);
    answers = std::move(answers_);
  }
  if (answers == nullptr) return;
  const absl::Status status =
      answers->ok() ? Complete(**answers) : answers->status();
  if (!status.ok()) {
    const absl::Status deleted = DeleteCheckpoint(folder_);
    if (!deleted.ok()) LOG(WARNING) << deleted.message();
  }
  Report(status);
}

absl::Status CheckpointTaker::Complete(
    const std::vector<v1::WriteCheckpointResponse>& answers) {
  manifest_.shards.clear();
  for (const v1::WriteCheckpointResponse& answer : answers) {
    manifest_.shards.push_back(
        {answer.file(), static_cast<int64_t>(answer.size_bytes()),
         answer.crc32(), static_cast<int64_t>(answer.step())});
  }
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
