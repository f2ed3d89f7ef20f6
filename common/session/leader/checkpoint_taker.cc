#include "common/session/leader/checkpoint_taker.h"

#include <glog/logging.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/manifest.h"

namespace paceline {
absl::Status CheckShardFiles(int64_t step, absl::Span<const ShardFile> files,
                             absl::Span<const StepBounds> expected,
                             absl::Span<const int64_t> copied) {
  const int count = static_cast<int>(files.size());
  for (int shard = 0; shard < count; ++shard) {
    const ShardFile& file = files[shard];
    const std::string name = ShardFileName(shard, count);
    if (file.file != name) {
      return absl::DataLossError(
          absl::StrCat("shard ", shard, " says that it wrote ",
                       PeerText(file.file), "; expected ", name));
    }
    if (!copied.empty() && copied[shard] != file.step) {
      return absl::DataLossError(absl::StrCat(name, " has ", file.step,
                                              " steps; its shard had copied ",
                                              copied[shard]));
    }
    if (expected.empty()) continue;
    const auto [least, most] = expected[shard];
    if (file.step < least || file.step > most) {
      return absl::DataLossError(absl::StrCat(
          "the shard of ", name, " counts ", file.step, " steps; expected ",
          least, least == most ? "" : absl::StrCat(" to ", most),
          ", since the leader counts ", step));
    }
  }
  return absl::OkStatus();
}

CheckpointTaker::CheckpointTaker(std::string directory, int keep,
                                 Manifest manifest, SharedSession& session,
                                 VariableHolders& holders, ModelSaver& saver)
    : directory_(std::move(directory)),
      keep_(keep),
      session_(session),
      holders_(holders),
      saver_(saver),
      manifest_(std::move(manifest)) {}

void CheckpointTaker::Take(const TakeCheckpoint& action) {
  saves_ = action.saves;
  absl::StatusOr<std::string> folder =
      CreateCheckpointFolder(directory_, action.step);
  if (!folder.ok()) {
    // Nothing was copied. Tell the session that the snapshot is over, since
    // training waits for it.
    session_.Handle([](Session& session, absl::Time now) {
      session.SnapshotTaken(absl::OkStatus(), now);
    });
    return Lose(folder.status());
  }
  folder_ = *std::move(folder);
  manifest_.step = action.step;
  manifest_.session = action.state;
  const std::string name = std::filesystem::path(folder_).filename().string();
  if (action.is_kept) manifest_.kept = name;
  shard_steps_ = action.shard_steps;
  holders_.Snapshot(name,
                    [this](const absl::StatusOr<std::vector<int64_t>>& steps) {
                      if (steps.ok()) {
                        {
                          MutexLock lock(mutex_);
                          copied_steps_ = *steps;
                        }
                        Write();
                      }
                      session_.Handle([&](Session& session, absl::Time now) {
                        session.SnapshotTaken(steps.status(), now);
                      });
                    });
}

void CheckpointTaker::Write() {
  const bool is_kept =
      manifest_.kept == std::filesystem::path(folder_).filename();
  holders_.WriteCheckpoint(folder_, is_kept, [this](Files files) {
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
  if (status.ok() && !saves_.empty()) {
    return saver_.Begin(folder_, std::exchange(saves_, {}),
                        [this] { Report(absl::OkStatus()); });
  }
  if (status.ok()) return Report(status);
  if (!IsOpenEnded(status)) {
    const absl::Status deleted = DeleteCheckpoint(folder_);
    if (!deleted.ok()) LOG(WARNING) << deleted.message();
  }
  Lose(status);
}

absl::Status CheckpointTaker::Complete(std::vector<ShardFile> files) {
  std::vector<int64_t> copied;
  {
    MutexLock lock(mutex_);
    copied = copied_steps_;
  }
  RETURN_IF_ERROR(CheckShardFiles(manifest_.step, files, shard_steps_, copied));
  manifest_.shards = std::move(files);
  RETURN_IF_ERROR(WriteManifest(folder_, manifest_));
  // The new checkpoint is good even if deleting old ones fails.
  const absl::Status deleted = DeleteOldCheckpoints(directory_, keep_);
  if (!deleted.ok()) LOG(WARNING) << deleted.message();
  return absl::OkStatus();
}

void CheckpointTaker::Lose(const absl::Status& error) {
  ++lost_.count;
  lost_.error = std::string(error.message());
  saver_.GiveUp(std::exchange(saves_, {}), error);
  Report(error);
}

void CheckpointTaker::Report(const absl::Status& status) {
  session_.Handle([&](Session& session, absl::Time now) {
    session.CheckpointWritten(status, now);
  });
}

}  // namespace paceline
