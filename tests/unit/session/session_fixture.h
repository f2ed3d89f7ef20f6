// A session with workers and ps, and helpers that send their messages.
#ifndef PACELINE_TESTS_UNIT_SESSION_SESSION_FIXTURE_H_
#define PACELINE_TESTS_UNIT_SESSION_SESSION_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cluster/blame.h"
#include "common/cluster/task_proto.h"
#include "common/session/machine/session.h"
#include "nlohmann/json.hpp"

namespace paceline {

constexpr TaskId kPs0 = {TaskType::kPs, 0};
constexpr TaskId kWorker0 = {TaskType::kWorker, 0};
constexpr TaskId kWorker1 = {TaskType::kWorker, 1};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.tasks = {
        {kPs0, "host-p:1"}, {kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
    options_.job.set_strategy(v1::STRATEGY_PARAMETER_SERVER);
    options_.job.set_batch_size_per_replica(10);
    options_.job.set_epochs(1);
    options_.metrics = {{"loss"}, {"accuracy"}};
    options_.version = "1.0";
    options_.job_fingerprint = "f1";
    options_.learning_rate = [](int64_t step) { return 1.0 / (1 + step); };
    options_.heartbeat_timeout = absl::Seconds(8);
    options_.stall_timeout = absl::Seconds(60);
    options_.start_timeout = absl::Seconds(30);
    options_.shutdown_timeout = absl::Seconds(5);
  }

  static std::string Message(const std::optional<Ended>& ended) {
    return ended ? std::string(ended->status.message()) : "not ended";
  }

  void Create() {
    auto session = Session::Create(options_, now_);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
    shards_ready_ = false;
  }

  v1::Member MemberOf(TaskId task) {
    v1::Member member;
    *member.mutable_task() = TaskToProto(task);
    if (!incarnations_.contains(task))
      incarnations_[task] = ++last_incarnation_;
    member.set_incarnation(incarnations_[task]);
    return member;
  }

  absl::StatusOr<v1::RegisterResponse> Register(TaskId task) {
    v1::RegisterRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_version("1.0");
    auto response = session_->Register(request, now_);
    if (shards_ready_) Admit({task});
    return response;
  }

  absl::StatusOr<std::optional<v1::AwaitStartResponse>> AwaitStart(
      TaskId task) {
    v1::AwaitStartRequest request;
    *request.mutable_member() = MemberOf(task);
    if (task.type == TaskType::kWorker) {
      request.set_train_examples(train_examples_);
      request.set_validation_examples(validation_examples_);
      request.set_test_examples(test_examples_);
    }
    return session_->AwaitStart(request, now_);
  }

  // Registers all tasks and starts the job.
  void Start() {
    Create();
    for (const ExpectedTask& task : options_.tasks) {
      ASSERT_TRUE(Register(task.id).ok());
      ASSERT_TRUE(AwaitStart(task.id).ok());
    }
    ShardsReady();
  }

  // The shards are initialised, and admit the workers, also those that come
  // later.
  void ShardsReady(int64_t step = 0) {
    session_->ShardsInitialized(absl::OkStatus(), step, now_);
    shards_ready_ = true;
    Admit({kWorker0, kWorker1});
  }
  void Admit(const std::vector<TaskId>& tasks) {
    std::vector<v1::WorkerId> workers;
    for (const TaskId task : tasks) workers.push_back(WorkerIdOf(task));
    session_->Admitted(workers, absl::OkStatus(), now_);
  }

  // The next lease; nullopt: none now.
  std::optional<v1::Lease> Acquire(TaskId task) {
    const auto response = TryAcquire(task, requests_[task] + 1);
    EXPECT_TRUE(response.ok()) << response.status();
    if (!response.ok() || !response->has_value()) return std::nullopt;
    if ((*response)->verdict() != v1::AcquireLeaseResponse::VERDICT_GRANTED) {
      return std::nullopt;
    }
    ++requests_[task];
    return (*response)->lease();
  }

  absl::StatusOr<std::optional<v1::AcquireLeaseResponse>> TryAcquire(
      TaskId task, uint64_t number) {
    v1::AcquireLeaseRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_request(number);
    return session_->AcquireLease(request, now_);
  }

  // A report whose sums fit the number of examples: loss 2, accuracy 0.5.
  static v1::LeaseReport ReportOf(const v1::Lease& lease, int64_t examples) {
    v1::LeaseReport report;
    report.set_lease_id(lease.id());
    report.set_examples(examples);
    report.set_steps((examples + 9) / 10);
    for (const double value : {2.0, 1.0, 0.5, 1.0}) {
      report.mutable_sums()->add_states(value * examples);
    }
    return report;
  }

  // The answer to Fence of the only shard.
  static std::vector<v1::FenceResponse> ShardKnows(
      const v1::LeaseReport& report) {
    std::vector<v1::FenceResponse> answers(1);
    answers[0].mutable_progress()->set_sequence(1);
    *answers[0].mutable_progress()->mutable_lease() = report;
    return answers;
  }

  absl::StatusOr<v1::HeartbeatResponse> Beat(
      TaskId task, const std::vector<v1::LeaseReport>& reports = {},
      const std::string& waiting_for = "") {
    v1::HeartbeatRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_activity(works_ ? ++activity_ : activity_);
    request.set_waiting_for(waiting_for);
    for (const v1::LeaseReport& report : reports)
      *request.add_reports() = report;
    return session_->Heartbeat(request, now_);
  }

  // A heartbeat of a task that was asked to leave.
  void BeatAndAskToLeave(TaskId task) {
    v1::HeartbeatRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_activity(works_ ? ++activity_ : activity_);
    request.set_leaves(true);
    ASSERT_TRUE(session_->Heartbeat(request, now_).ok());
  }

  void Finish(TaskId task, const v1::Lease& lease) {
    const auto answer =
        Beat(task, {ReportOf(lease, lease.end() - lease.begin())});
    ASSERT_TRUE(answer.ok()) << answer.status();
  }

  // Takes and finishes leases until there are none. Returns the number of
  // examples.
  int64_t WorkUntilIdle(TaskId task) {
    int64_t examples = 0;
    while (const auto lease = Acquire(task)) {
      examples += lease->end() - lease->begin();
      Finish(task, *lease);
    }
    return examples;
  }

  absl::Status Leave(TaskId task, const absl::Status& error) {
    v1::LeaveRequest request;
    *request.mutable_member() = MemberOf(task);
    *request.mutable_error() = ErrorToProto(error);
    return session_->Leave(request, now_);
  }

  // Blames ps-0, like PsClient.
  static absl::Status BlamedOnPs0(const absl::Status& error) {
    return WithBlame(error, {kPs0, "host-p:1", "Push"});
  }

  // Lets time pass; all members but `silent` send heartbeats.
  void Pass(absl::Duration duration, const std::vector<TaskId>& silent) {
    const absl::Time end = now_ + duration;
    while (now_ < end) {
      now_ += absl::Milliseconds(250);
      for (const ExpectedTask& task : options_.tasks) {
        if (std::find(silent.begin(), silent.end(), task.id) == silent.end()) {
          Beat(task.id).IgnoreError();
        }
      }
      session_->Tick(now_);
    }
  }

  // The first pending action of type T; drops all other pending actions.
  template <typename T>
  std::optional<T> Take() {
    std::optional<T> found;
    for (Action& action : session_->TakeActions()) {
      if (!found && std::holds_alternative<T>(action)) {
        found = std::get<T>(std::move(action));
      }
    }
    return found;
  }

  // A new process takes the task's place.
  void Restart(TaskId task) {
    incarnations_.erase(task);
    requests_[task] = 0;
  }

  v1::WorkerId WorkerIdOf(TaskId task) {
    v1::WorkerId id;
    id.set_rank(task.index);
    id.set_incarnation(incarnations_[task]);
    return id;
  }

  SessionOptions options_;
  int64_t train_examples_ = 1000;
  int64_t validation_examples_ = 0;
  int64_t test_examples_ = 0;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  std::unique_ptr<Session> session_;
  std::map<TaskId, uint64_t> incarnations_;
  std::map<TaskId, uint64_t> requests_;
  uint64_t last_incarnation_ = 100;
  // Whether each heartbeat tells of new work.
  bool works_ = true;
  uint64_t activity_ = 0;
  bool shards_ready_ = false;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_SESSION_SESSION_FIXTURE_H_
