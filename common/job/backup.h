// What the callback BackupAndRestore makes of a job.
#ifndef PACELINE_COMMON_JOB_BACKUP_H_
#define PACELINE_COMMON_JOB_BACKUP_H_

#include <optional>

#include "absl/status/status.h"
#include "common/callback/backup_and_restore.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The first BackupAndRestore among the job's callbacks; nullopt if there is
// none, or its config is bad.
std::optional<BackupAndRestore> BackupOf(const v1::Job& job);

// Gives a job that has one, and no policy of its own, the policy by which
// checkpoints are taken. InvalidArgument if it would delete checkpoints that
// the job's own policy keeps.
absl::Status TakeBackupPolicy(v1::Job& job);

// Removes the `checkpoint` that TakeBackupPolicy has made of the job's
// BackupAndRestore.
void DropBackupPolicy(v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_BACKUP_H_
