#include "tests/fuzz/fuzz_session.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/cluster/blame.h"
#include "common/cluster/task_proto.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

constexpr uint64_t kExamples = 100;
// Of the loss and the metric.
constexpr uint32_t kStateSize = 4;
constexpr TaskId kTasks[] = {
    {TaskType::kPs, 0}, {TaskType::kWorker, 0}, {TaskType::kWorker, 1}};

bool IsOfTheJob(TaskId task) {
  return std::find(std::begin(kTasks), std::end(kTasks), task) !=
         std::end(kTasks);
}

v1::Member MemberOf(v1::TaskType type, uint32_t index) {
  v1::Member member;
  member.mutable_task()->set_type(type);
  member.mutable_task()->set_index(index);
  member.set_incarnation(1 + index);
  member.set_address("host:1");
  return member;
}

v1::Task FuzzTask(FuzzInput& input) {
  v1::Task task;
  task.set_type(
      static_cast<v1::TaskType>(static_cast<int32_t>(input.Number())));
  task.set_index(static_cast<uint32_t>(input.Number()));
  return task;
}

v1::MetricSums FuzzSums(FuzzInput& input) {
  v1::MetricSums sums;
  const uint32_t size = input.Below(4) != 0 ? kStateSize : input.Below(9);
  for (uint32_t i = 0; i < size; ++i) sums.add_states(input.Real());
  return sums;
}

v1::Error FuzzError(FuzzInput& input) {
  v1::Error error;
  error.set_code(static_cast<int>(input.Number()));
  error.set_message(input.Text());
  if (input.Below(2) == 0) return error;
  v1::Blame& blame = *error.mutable_blame();
  // Of whom the job has, or of anybody.
  *blame.mutable_task() = input.Below(4) != 0
                              ? TaskToProto(kTasks[input.Below(3)])
                              : FuzzTask(input);
  blame.set_address(input.Text());
  blame.set_waited_for(input.Text());
  return error;
}

v1::FenceResponse FuzzFenced(FuzzInput& input) {
  v1::FenceResponse response;
  if (input.Below(2) == 0) return response;
  v1::Progress& last = *response.mutable_progress();
  last.set_sequence(input.Number());
  *last.mutable_lease() = FuzzReport(input);
  *last.mutable_previous() = FuzzReport(input);
  return response;
}

}  // namespace

std::vector<LoggedMetric> FuzzMetrics() { return {{"loss"}, {"accuracy"}}; }

SessionOptions FuzzSessionOptions(v1::Consistency consistency) {
  SessionOptions options;
  for (const TaskId& task : kTasks) options.tasks.push_back({task, "host:1"});
  options.job.set_strategy(v1::STRATEGY_PARAMETER_SERVER);
  options.job.set_consistency(consistency);
  options.job.set_batch_size_per_replica(10);
  options.job.set_epochs(3);
  options.job.mutable_checkpoint()->set_every_epochs(1);
  options.job.set_log_steps(true);
  options.metrics = FuzzMetrics();
  options.version = "1";
  options.job_fingerprint = "f";
  options.learning_rate = [](int64_t) { return 0.1; };
  options.heartbeat_timeout = absl::Seconds(8);
  options.stall_timeout = absl::Seconds(60);
  options.start_timeout = absl::Seconds(30);
  options.connect_timeout = absl::Seconds(30);
  options.shutdown_timeout = absl::Seconds(5);
  return options;
}

v1::LeaseReport FuzzReport(FuzzInput& input) {
  v1::LeaseReport report;
  report.set_lease_id(input.Number());
  report.set_examples(input.Number());
  report.set_steps(input.Number());
  report.set_first_nonfinite_step(input.Number());
  // Takes no bytes, so that older inputs of the corpus mean what they meant.
  report.set_skipped_examples(report.first_nonfinite_step());
  *report.mutable_sums() = FuzzSums(input);
  return report;
}

FuzzSession::FuzzSession(SessionOptions options, int64_t step)
    : now_(absl::FromUnixSeconds(1'000'000)), step_(step) {
  const bool validates =
      options.callbacks != nullptr && options.callbacks->swaps_averages();
  auto session = Session::Create(std::move(options), now_);
  if (!session.ok()) return;
  session_ = *std::move(session);
  for (const TaskId& task : kTasks) {
    v1::RegisterRequest request;
    *request.mutable_member() = MemberOf(TaskToProto(task).type(), task.index);
    request.set_version("1");
    session_->Register(request, now_).IgnoreError();
    v1::AwaitStartRequest ready;
    *ready.mutable_member() = request.member();
    if (task.type == TaskType::kWorker) {
      ready.set_train_examples(kExamples);
      ready.set_validation_examples(validates ? kExamples : 0);
    }
    session_->AwaitStart(ready, now_).IgnoreError();
  }
  FuzzInput honest(nullptr, 0);
  Act(honest);
}

void FuzzSession::Work() {
  if (session_ == nullptr) return;
  FuzzInput honest(nullptr, 0);
  now_ += absl::Milliseconds(100);
  for (const uint32_t index : {0u, 1u}) {
    v1::AcquireLeaseRequest request;
    *request.mutable_member() = MemberOf(v1::TASK_TYPE_WORKER, index);
    request.set_request(requests_[index] + 1);
    const auto response = session_->AcquireLease(request, now_);
    if (response.ok() && response->has_value() && (*response)->has_lease()) {
      ++requests_[index];
      Report(request.member(), (*response)->lease());
    }
    Act(honest);
  }
  v1::HeartbeatRequest beat;
  *beat.mutable_member() = MemberOf(v1::TASK_TYPE_PS, 0);
  session_->Heartbeat(beat, now_).IgnoreError();
  session_->Tick(now_);
  Act(honest);
}

void FuzzSession::Report(const v1::Member& worker, const v1::Lease& lease) {
  v1::HeartbeatRequest beat;
  *beat.mutable_member() = worker;
  v1::LeaseReport& report = *beat.add_reports();
  const uint64_t examples = lease.end() - lease.begin();
  report.set_lease_id(lease.id());
  report.set_examples(examples);
  report.set_steps((examples + 9) / 10);
  for (uint32_t i = 0; i < kStateSize; ++i) {
    report.mutable_sums()->add_states(1);
  }
  session_->Heartbeat(beat, now_).IgnoreError();
}

void FuzzSession::Hear(FuzzInput& input) {
  if (session_ == nullptr) return;
  if (input.Below(8) == 0) {
    now_ += absl::Seconds(input.Byte()) / 8;
    session_->Tick(now_);
  } else {
    HearMember(input);
  }
  Act(input);
  session_->Progress();
  session_->Tasks();
  session_->TakeStepRows();
}

v1::Member FuzzSession::Somebody(FuzzInput& input) const {
  if (input.Below(4) != 0) {
    const TaskId& task = kTasks[input.Below(3)];
    return MemberOf(TaskToProto(task).type(), task.index);
  }
  v1::Member member;
  *member.mutable_task() = FuzzTask(input);
  member.set_incarnation(input.Number());
  member.set_address(input.Text());
  return member;
}

void FuzzSession::HearMember(FuzzInput& input) {
  const v1::Member member = Somebody(input);
  switch (input.Below(6)) {
    case 0: {
      v1::RegisterRequest request;
      *request.mutable_member() = member;
      request.set_version(input.Below(2) == 0 ? "1" : input.Text());
      if (input.Below(4) == 0) request.set_job_fingerprint(input.Text());
      if (input.Below(4) == 0) *request.add_cluster() = Somebody(input);
      return session_->Register(request, now_).IgnoreError();
    }
    case 1: {
      v1::AwaitStartRequest request;
      *request.mutable_member() = member;
      request.set_train_examples(input.Number());
      request.set_validation_examples(input.Number());
      request.set_test_examples(input.Number());
      return session_->AwaitStart(request, now_).IgnoreError();
    }
    case 2: {
      v1::AcquireLeaseRequest request;
      *request.mutable_member() = member;
      request.set_request(input.Number());
      return session_->AcquireLease(request, now_).IgnoreError();
    }
    case 3: {
      v1::HeartbeatRequest request;
      *request.mutable_member() = member;
      request.set_activity(input.Number());
      for (uint32_t i = input.Below(3); i > 0; --i) {
        *request.add_reports() = FuzzReport(input);
      }
      if (input.Below(4) == 0) {
        v1::StepReport& step = *request.add_steps();
        step.set_step(input.Number());
        step.set_total(input.Real());
        step.set_weight(input.Real());
      }
      return session_->Heartbeat(request, now_).IgnoreError();
    }
    case 4: {
      v1::ReportCheckpointRequest request;
      *request.mutable_member() = member;
      request.set_name(input.Text());
      request.mutable_file()->set_name(input.Text());
      request.mutable_file()->set_size_bytes(input.Number());
      request.mutable_file()->set_step(input.Number());
      *request.mutable_error() = FuzzError(input);
      session_->ReportCheckpoint(request).IgnoreError();
      // Takes no bytes, either.
      v1::ReportOrderRequest order;
      *order.mutable_member() = member;
      order.set_number(request.file().step());
      *order.mutable_error() = request.error();
      return session_->ReportOrder(order, now_).IgnoreError();
    }
    default: {
      v1::LeaveRequest request;
      *request.mutable_member() = member;
      *request.mutable_error() = FuzzError(input);
      return session_->Leave(request, now_).IgnoreError();
    }
  }
}

void FuzzSession::Act(FuzzInput& input) {
  for (const Action& action : session_->TakeActions()) {
    if (std::holds_alternative<InitializeShards>(action)) {
      session_->ShardsInitialized(absl::OkStatus(), step_, now_);
    } else if (const auto* fence = std::get_if<FenceWorker>(&action)) {
      session_->Fenced(fence->worker,
                       std::vector<v1::FenceResponse>{FuzzFenced(input)}, now_);
    } else if (const auto* checkpoint = std::get_if<TakeCheckpoint>(&action)) {
      CHECK(checkpoint->state->is_object());
      session_->SnapshotTaken(absl::OkStatus(), now_);
      session_->CheckpointWritten(absl::OkStatus(), now_);
    } else if (const auto* change = std::get_if<ChangeVariables>(&action)) {
      CHECK_GT(change->order.number(), 0);
      session_->VariablesChanged(absl::OkStatus(), now_);
    } else if (const auto* ended = std::get_if<Ended>(&action)) {
      CHECK(!ended->task || IsOfTheJob(*ended->task));
      const std::optional<Blame> blame = BlameOf(ended->status);
      CHECK(!blame || blame->task == ended->task);
    }
  }
  const absl::Status status = session_->CheckInvariants();
  CHECK(status.ok()) << status;
}

}  // namespace paceline
