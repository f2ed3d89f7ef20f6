#include "coordinator/service/housekeeper.h"

#include <glog/logging.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "coordinator/service/delete_job.h"

namespace paceline {

void Housekeeper::ForgetJobs() {
  const absl::StatusOr<std::vector<ForgottenJob>> forgotten = FindForgotten();
  if (!forgotten.ok()) {
    LOG(WARNING) << forgotten.status().message();
    return;
  }
  for (const ForgottenJob& job : *forgotten) {
    const absl::Status deleted =
        DeleteJob(queue_, logs_, job.id, job.reason,
                  [](const JobQueue&) { return absl::OkStatus(); });
    // Somebody else may have deleted it.
    LOG_IF(WARNING, !deleted.ok() && !absl::IsNotFound(deleted))
        << deleted.message();
  }
}

// To know sizes takes time in proportion to all outputs. They are left out
// while the stores are not larger than all jobs together may be; but the stores
// have files, too, that wait to be swept.
absl::StatusOr<std::vector<ForgottenJob>> Housekeeper::FindForgotten() {
  const absl::Time begin = MonotonicNow();
  const std::map<std::string, uint64_t> log_bytes = logs_.BytesByJob();
  uint64_t used_bytes = files_.used_bytes();
  for (const auto& [id, bytes] : log_bytes) used_bytes += bytes;
  const MutexLock lock(mutex_);
  const bool needs_sizes = used_bytes > limits_.bytes && sizes_.MayWork(begin);

  absl::Time now;
  ASSIGN_OR_RETURN(std::vector<KeptJob> jobs,
                   queue_.Handle([&](SharedQueue::Books books) {
                     now = books.now;
                     return JobsIn(books.queue, needs_sizes);
                   }));
  if (needs_sizes) {
    const absl::Status added = AddSizes(log_bytes, jobs);
    sizes_.Worked(begin, MonotonicNow());
    RETURN_IF_ERROR(added);
  }
  return JobsToForget(limits_, std::move(jobs), now);
}

absl::Status Housekeeper::AddSizes(
    const std::map<std::string, uint64_t>& log_bytes,
    std::vector<KeptJob>& jobs) {
  for (KeptJob& job : jobs) {
    const auto log = log_bytes.find(job.id);
    if (log != log_bytes.end()) job.log_bytes = log->second;
    RETURN_IF_ERROR(AddOutputs(job));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<KeptJob>> Housekeeper::JobsIn(const JobQueue& queue,
                                                         bool with_files) {
  std::vector<KeptJob> jobs;
  for (const v1::JobRecord* record : queue.Jobs()) {
    KeptJob& job = jobs.emplace_back();
    job.id = record->id();
    if (HasEnded(record->state())) {
      job.ended = absl::FromUnixMicros(record->ended_micros());
    }
    if (!with_files) continue;
    for (const v1::JobFile& file : record->submission().files()) {
      job.files[file.sha256()] = InBlocks(file.size_bytes());
    }
  }
  return jobs;
}

// The queue is asked for each job anew, so that calls need not wait for all.
absl::Status Housekeeper::AddOutputs(KeptJob& job) {
  ASSIGN_OR_RETURN(const std::vector<v1::JobFile> outputs,
                   queue_.Handle([&](SharedQueue::Books books) {
                     return books.store.Outputs(job.id);
                   }));
  for (const v1::JobFile& output : outputs) {
    job.files[output.sha256()] = InBlocks(output.size_bytes());
  }
  return absl::OkStatus();
}

void Housekeeper::SweepFiles(absl::Duration min_age) {
  const auto needed = queue_.Handle(
      [](SharedQueue::Books books) -> absl::StatusOr<std::set<std::string>> {
        ASSIGN_OR_RETURN(std::set<std::string> files,
                         books.store.ReferencedFiles());
        for (const v1::JobRecord* job : books.queue.Jobs()) {
          for (const v1::JobFile& file : job->submission().files()) {
            files.insert(file.sha256());
          }
        }
        return files;
      });
  if (!needed.ok()) return;
  const absl::Status swept = files_.Sweep(*needed, min_age).status();
  LOG_IF(WARNING, !swept.ok()) << swept.message();
}

}  // namespace paceline
