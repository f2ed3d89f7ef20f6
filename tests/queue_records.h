// What tests of the job queue share: its records, as a store would keep them,
// and a daemon that does what it is told.
#ifndef PACELINE_TESTS_QUEUE_RECORDS_H_
#define PACELINE_TESTS_QUEUE_RECORDS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/queue/job_queue.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

struct QueueRecords {
  std::map<std::string, v1::JobRecord> jobs;
  std::map<std::string, v1::DaemonRecord> daemons;
  uint64_t last_number = 0;

  // Stores or removes what the action says.
  void Apply(const QueueAction& action) {
    if (const auto* job = std::get_if<StoreJob>(&action)) {
      jobs[job->record.id()] = job->record;
    } else if (const auto* daemon = std::get_if<StoreDaemon>(&action)) {
      daemons[daemon->record.name()] = daemon->record;
    } else if (const auto* last = std::get_if<StoreLastNumber>(&action)) {
      last_number = last->number;
    } else if (const auto* gone = std::get_if<RemoveJob>(&action)) {
      jobs.erase(gone->id);
    } else if (const auto* lost = std::get_if<RemoveDaemon>(&action)) {
      daemons.erase(lost->name);
    }
  }

  // A queue that goes on from these records.
  absl::StatusOr<std::unique_ptr<JobQueue>> Restore(
      const JobQueueOptions& options, absl::Time now) const {
    return JobQueue::Create(options, Values(jobs), Values(daemons), last_number,
                            now);
  }

 private:
  template <typename Record>
  static std::vector<Record> Values(
      const std::map<std::string, Record>& records) {
    std::vector<Record> values;
    for (const auto& [name, record] : records) values.push_back(record);
    return values;
  }
};

// The daemon that sends `state` starts what it is told to, and forgets the
// rest.
inline void FollowOrders(const v1::SyncResponse& answer,
                         v1::SyncRequest& state) {
  const auto held = std::exchange(*state.mutable_tasks(), {});
  for (const v1::TaskOrder& order : answer.orders()) {
    v1::TaskReport report;
    *report.mutable_task() = order.task();
    report.set_state(v1::TASK_STATE_RUNNING);
    report.set_address("host:1");
    for (const v1::TaskReport& old : held) {
      if (old.task().SerializeAsString() == order.task().SerializeAsString()) {
        report = old;
      }
    }
    *state.add_tasks() = report;
  }
}

}  // namespace paceline

#endif  // PACELINE_TESTS_QUEUE_RECORDS_H_
