#include "common/job/backup.h"

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "google/protobuf/util/message_differencer.h"

namespace paceline {
namespace {

using ::google::protobuf::util::MessageDifferencer;

// The index of the first; -1: there is none.
int IndexOfBackup(const v1::Job& job) {
  for (int i = 0; i < job.callbacks_size(); ++i) {
    if (job.callbacks(i).class_name() == BackupAndRestore::kClassName) return i;
  }
  return -1;
}

v1::CheckpointPolicy PolicyOf(const BackupAndRestore& backup) {
  v1::CheckpointPolicy policy;
  policy.set_keep(backup.double_checkpoint ? 2 : 1);
  const int64_t batches = backup.save_freq.batches;
  if (batches > 0) {
    policy.set_every_steps(static_cast<uint64_t>(batches));
  } else {
    policy.set_every_epochs(1);
  }
  return policy;
}

}  // namespace

std::optional<BackupAndRestore> BackupOf(const v1::Job& job) {
  const int index = IndexOfBackup(job);
  if (index < 0) return std::nullopt;
  absl::StatusOr<BackupAndRestore> backup = BackupAndRestore::Fields().Read(
      FromProto(job.callbacks(index)).config, Path());
  if (!backup.ok()) return std::nullopt;
  return *std::move(backup);
}

absl::Status TakeBackupPolicy(v1::Job& job) {
  const std::optional<BackupAndRestore> backup = BackupOf(job);
  if (!backup) return absl::OkStatus();
  if (!job.has_checkpoint()) {
    *job.mutable_checkpoint() = PolicyOf(*backup);
    return absl::OkStatus();
  }
  if (!backup->delete_checkpoint) return absl::OkStatus();
  const Path path = Path("callbacks").Index(IndexOfBackup(job));
  return ConfigError(path.Key("delete_checkpoint"),
                     "true, but the job's own `checkpoint` keeps "
                     "checkpoints; expected false, or no `checkpoint`");
}

void DropBackupPolicy(v1::Job& job) {
  const std::optional<BackupAndRestore> backup = BackupOf(job);
  if (backup && job.has_checkpoint() &&
      MessageDifferencer::Equals(job.checkpoint(), PolicyOf(*backup))) {
    job.clear_checkpoint();
  }
}

}  // namespace paceline
