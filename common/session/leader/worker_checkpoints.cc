#include "common/session/leader/worker_checkpoints.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/limits.h"

namespace paceline {

void WorkerCheckpoints::Snapshot(const std::string& name, SnapshotDone done) {
  name_ = name;
  snapshot_done_ = std::move(done);
  deadline_ = MonotonicNow() + limits::kCheckpointTimeout;
  blame_ = session_.Handle([&](Session& session, absl::Time) {
    return session.OrderSnapshot(name);
  });
}

void WorkerCheckpoints::WriteCheckpoint(const std::string& /*folder*/,
                                        bool /*is_kept*/, WriteDone done) {
  write_done_ = std::move(done);
}

void WorkerCheckpoints::Reported(const CheckpointReported& report) {
  if (report.name != name_) return;
  if (snapshot_done_) {
    // The worker reports its step together with its file.
    std::exchange(snapshot_done_, nullptr)(
        report.status.ok()
            ? absl::StatusOr<std::vector<int64_t>>(std::vector<int64_t>())
            : report.status);
  }
  if (!write_done_ || (report.status.ok() && !report.file)) return;
  std::exchange(write_done_, nullptr)(
      report.status.ok()
          ? absl::StatusOr<std::vector<ShardFile>>({*report.file})
          : report.status);
}

void WorkerCheckpoints::Poll() {
  if ((!snapshot_done_ && !write_done_) || MonotonicNow() < deadline_) return;
  Reported({name_,
            WithBlame(absl::DeadlineExceededError(absl::StrCat(
                          blame_.Name(), " did not write ", name_, " within ",
                          absl::FormatDuration(limits::kCheckpointTimeout))),
                      blame_),
            std::nullopt});
}

}  // namespace paceline
