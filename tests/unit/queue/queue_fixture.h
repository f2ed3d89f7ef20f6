// A job queue with daemons that do what they are told.
#ifndef PACELINE_TESTS_UNIT_QUEUE_QUEUE_FIXTURE_H_
#define PACELINE_TESTS_UNIT_QUEUE_QUEUE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/queue/job_queue.h"
#include "glog/logging.h"
#include "paceline/v1/queue.pb.h"
#include "tests/queue_records.h"

namespace paceline {

inline constexpr uint64_t kCoordinator = 77;

inline v1::Resources Cores(uint64_t count) {
  v1::Resources resources;
  resources.set_millicores(1000 * count);
  return resources;
}

// A job of so many workers of so many cores each.
inline v1::Submission JobOf(int workers, uint64_t cores) {
  v1::Submission job;
  job.set_name("job");
  job.set_user("ann");
  v1::TaskGroup& group = *job.add_groups();
  group.set_type(v1::TASK_TYPE_WORKER);
  group.set_count(workers);
  *group.mutable_each() = Cores(cores);
  return job;
}

inline v1::Submission Retried(uint32_t retries) {
  v1::Submission job = JobOf(1, 1);
  job.set_retries(retries);
  return job;
}

inline v1::Submission WithTimeout(v1::Submission job, absl::Duration timeout) {
  job.set_timeout_micros(absl::ToInt64Microseconds(timeout));
  return job;
}

class QueueFixture : public ::testing::Test {
 protected:
  QueueFixture() { Restart(); }

  // A new queue from what the one before has stored.
  void Restart() {
    TakeActions();
    options_.incarnation = kCoordinator;
    options_.version = "1";
    auto queue = records_.Restore(options_, now_);
    CHECK(queue.ok()) << queue.status();
    queue_ = *std::move(queue);
  }

  // A message of the daemon with these tasks, and the answer to it.
  v1::SyncRequest Message(const std::string& daemon, uint64_t cores) {
    v1::SyncRequest& request = messages_[daemon];
    request.set_daemon(daemon);
    if (request.incarnation() == 0) request.set_incarnation(1);
    request.set_last_answer(request.sequence());
    request.set_sequence(request.sequence() + 1);
    request.set_coordinator(kCoordinator);
    request.set_type(v1::TASK_TYPE_WORKER);
    request.set_version("1");
    *request.mutable_total() = Cores(cores);
    return request;
  }
  void AddDaemon(const std::string& daemon, uint64_t cores) {
    ASSERT_TRUE(queue_->Sync(Message(daemon, cores), now_).ok());
    cores_[daemon] = cores;
    TakeActions();
  }
  v1::SyncResponse Sync(const std::string& daemon) {
    const auto answer = queue_->Sync(Message(daemon, cores_.at(daemon)), now_);
    CHECK(answer.ok()) << answer.status();
    TakeActions();
    return *answer;
  }
  // The daemon starts what it is told to, and forgets the rest.
  v1::SyncResponse Follow(const std::string& daemon) {
    v1::SyncResponse answer = Sync(daemon);
    FollowOrders(answer, messages_[daemon]);
    return answer;
  }
  // Three times are enough for leaders, workers, and reports of these.
  void FollowAll() {
    for (int i = 0; i < 3; ++i) {
      for (const auto& [name, cores] : cores_) Follow(name);
    }
  }
  // The task of the job that the daemon holds ends.
  void End(const std::string& daemon, const std::string& job, v1::TaskType type,
           int exit_code) {
    for (v1::TaskReport& report : *messages_[daemon].mutable_tasks()) {
      if (report.task().job() != job) continue;
      if (report.task().task().type() != type) continue;
      report.set_state(v1::TASK_STATE_OVER);
      report.set_exit_code(exit_code);
    }
  }

  std::string Submit(const v1::Submission& job) {
    const absl::StatusOr<std::string> id = queue_->Submit(job, now_);
    CHECK(id.ok()) << id.status();
    TakeActions();
    return *id;
  }
  // The job's leader and workers run on the only daemon.
  std::string Run(const v1::Submission& job) {
    AddDaemon("a", 4);
    const std::string id = Submit(job);
    FollowAll();
    CHECK_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
    return id;
  }
  // The leader ends there, and the worker after it.
  void EndWith(const std::string& id, int exit_code) {
    End("a", id, v1::TASK_TYPE_CHIEF, exit_code);
    End("a", id, v1::TASK_TYPE_WORKER, exit_code);
    FollowAll();
  }
  void Pass(absl::Duration time) {
    now_ += time;
    queue_->Tick(now_);
    TakeActions();
  }
  v1::JobState StateOf(const std::string& id) {
    return queue_->FindJob(id)->state();
  }
  // Where the leader is, or the task with this placement.
  std::string DaemonOf(const std::string& id, int placement = 0) {
    return queue_->FindJob(id)->placements(placement).daemon();
  }

  void TakeActions() {
    if (queue_ == nullptr) return;
    // A look for jobs that can start is not too soon after the last one.
    now_ += absl::Milliseconds(50);
    for (const QueueAction& action : queue_->TakeActions(now_)) {
      records_.Apply(action);
    }
    ASSERT_EQ(queue_->CheckInvariants(), absl::OkStatus());
  }

  JobQueueOptions options_;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  QueueRecords records_;
  std::map<std::string, v1::SyncRequest> messages_;
  std::map<std::string, uint64_t> cores_;
  std::unique_ptr<JobQueue> queue_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_QUEUE_QUEUE_FIXTURE_H_
