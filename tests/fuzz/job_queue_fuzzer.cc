// What people and daemons send to the job queue of a service; now and then a
// new queue goes on from what the one before has stored.
#include <glog/logging.h>

#include <iterator>
#include <memory>
#include <string>

#include "coordinator/queue/job_queue.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/queue_records.h"

namespace paceline {
namespace {

constexpr uint64_t kIncarnation = 1;
const char* const kDaemons[] = {"a", "b", "c"};

// Mostly one of a few sensible numbers.
uint64_t Count(FuzzInput& input, uint32_t bound) {
  return input.Below(8) == 0 ? input.Number() : input.Below(bound);
}

v1::Resources FuzzResources(FuzzInput& input) {
  v1::Resources resources;
  resources.set_millicores(Count(input, 8));
  resources.set_memory_bytes(Count(input, 8));
  resources.set_gpus(Count(input, 2));
  return resources;
}

v1::Submission FuzzSubmission(FuzzInput& input) {
  v1::Submission job;
  job.set_name("job");
  job.set_user(input.Below(4) == 0 ? "ben" : "ann");
  if (input.Below(4) == 0) job.set_idempotency_key(input.Text());
  job.set_priority(static_cast<int32_t>(Count(input, 3)));
  for (const v1::TaskType type : {v1::TASK_TYPE_WORKER, v1::TASK_TYPE_PS}) {
    if (type == v1::TASK_TYPE_PS && input.Below(2) == 0) continue;
    v1::TaskGroup& group = *job.add_groups();
    group.set_type(type);
    group.set_count(static_cast<uint32_t>(Count(input, 4)));
    *group.mutable_each() = FuzzResources(input);
  }
  *job.mutable_leader() = FuzzResources(input);
  job.set_retries(static_cast<uint32_t>(Count(input, 3)));
  if (input.Below(4) == 0) job.set_timeout_micros(input.Number());
  return job;
}

// A queue, and daemons that mostly do what it says.
class FuzzQueue {
 public:
  FuzzQueue() {
    options_.version = "1";
    options_.incarnation = kIncarnation;
    options_.max_daemons = 3;
    options_.max_queued = 20;
    options_.quotas["ben"] = {{8, 8, 1}, 2};
    Restart();
  }

  void Do(FuzzInput& input) {
    switch (input.Below(8)) {
      case 0:
        static_cast<void>(queue_->Submit(FuzzSubmission(input), now_));
        break;
      case 1:
        static_cast<void>(queue_->StopJob(AnyJob(input), now_));
        break;
      case 2:
        static_cast<void>(queue_->DeleteJob(AnyJob(input)));
        break;
      case 3:
        static_cast<void>(queue_->DrainDaemon(
            kDaemons[input.Below(std::size(kDaemons))], input.Below(2) == 0));
        break;
      case 4:
        now_ += absl::Milliseconds(input.Below(8) == 0 ? 400'000
                                                       : 10 * input.Byte());
        queue_->Tick(now_);
        break;
      case 5:
        if (input.Below(8) == 0) Restart();
        break;
      default:
        Sync(input);
    }
    Store(input);
    const absl::Status status = queue_->CheckInvariants();
    CHECK(status.ok()) << status;
    for (const v1::JobRecord* record : queue_->Jobs()) {
      static_cast<void>(queue_->WhyQueued(record->id(), now_));
    }
  }

 private:
  std::string AnyJob(FuzzInput& input) {
    if (records_.jobs.empty()) return input.Text();
    return std::next(records_.jobs.begin(), input.Byte() % records_.jobs.size())
        ->first;
  }

  void Sync(FuzzInput& input) {
    const uint32_t index = input.Below(std::size(kDaemons));
    v1::SyncRequest& request = messages_[index];
    request.set_daemon(kDaemons[index]);
    request.set_type(index == 0 ? v1::TASK_TYPE_PS : v1::TASK_TYPE_WORKER);
    request.set_version("1");
    request.set_coordinator(kIncarnation);
    if (request.incarnation() == 0 || input.Below(16) == 0) {
      request.set_incarnation(request.incarnation() + 1 + Count(input, 2));
      request.clear_tasks();
      *request.mutable_total() = FuzzResources(input);
    }
    request.set_last_answer(request.sequence());
    request.set_sequence(request.sequence() + Count(input, 3));
    for (v1::TaskReport& report : *request.mutable_tasks())
      Change(input, report);
    const auto answer = queue_->Sync(request, now_);
    if (!answer.ok() || input.Below(8) == 0) return;
    FollowOrders(*answer, request);
  }

  static void Change(FuzzInput& input, v1::TaskReport& report) {
    switch (input.Below(8)) {
      case 0:
        report.set_state(v1::TASK_STATE_OVER);
        report.set_exit_code(static_cast<uint32_t>(Count(input, 3)));
        break;
      case 1:
        report.set_address(input.Text());
        report.set_error(input.Text());
        break;
      case 2:
        report.mutable_task()->set_generation(
            static_cast<uint32_t>(Count(input, 3)));
        report.mutable_task()->mutable_task()->set_index(
            static_cast<uint32_t>(Count(input, 3)));
        break;
      default:
        break;
    }
  }

  void Store(FuzzInput& input) {
    now_ += absl::Milliseconds(input.Below(60));
    for (const QueueAction& action : queue_->TakeActions(now_)) {
      records_.Apply(action);
    }
  }

  // What a queue has stored, another takes.
  void Restart() {
    auto queue = records_.Restore(options_, now_);
    CHECK(queue.ok()) << queue.status();
    queue_ = *std::move(queue);
  }

  JobQueueOptions options_;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  QueueRecords records_;
  v1::SyncRequest messages_[std::size(kDaemons)];
  std::unique_ptr<JobQueue> queue_;
};

}  // namespace

void Fuzz(FuzzInput input) {
  FuzzQueue queue;
  while (!input.is_empty()) queue.Do(input);
}

}  // namespace paceline
