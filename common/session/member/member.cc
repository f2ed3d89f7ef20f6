#include "common/session/member/member.h"

#include <glog/logging.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/variables_order.h"
#include "common/cluster/blame.h"
#include "common/cluster/task_proto.h"
#include "common/limits.h"
#include "common/rpc/transient_error.h"
#include "common/session/member/leader_answers.h"

namespace paceline {
namespace {

// Pause between two attempts to register.
constexpr absl::Duration kRegisterPause = absl::Milliseconds(50);
// Between two lines in the log about a leader that is not there yet.
constexpr absl::Duration kWaitLogInterval = absl::Seconds(10);

}  // namespace

uint64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Member::Member(MemberOptions options)
    : options_(std::move(options)),
      client_(options_.coordinator_address, options_.caller) {
  *self_.mutable_task() = TaskToProto(options_.task);
  self_.set_address(options_.address);
  self_.set_incarnation(options_.incarnation);
}

absl::StatusOr<std::unique_ptr<Member>> Member::Join(MemberOptions options) {
  std::unique_ptr<Member> member(new Member(std::move(options)));
  // The end of an earlier phase's server may cut a call off, so that for some
  // time this does not mean that the job has ended.
  const bool was_member = member->options_.caller->job() != JobIdentity();
  const absl::Time cut_off_until =
      MonotonicNow() +
      (was_member ? limits::kShutdownTimeout : absl::ZeroDuration());
  // The leader would refuse an earlier phase's.
  member->options_.caller->SetJob(JobIdentity());
  v1::RegisterRequest request;
  *request.mutable_member() = member->self_;
  request.set_version(member->options_.version);
  request.set_job_fingerprint(member->options_.job_fingerprint);
  for (const auto& [type, tasks] : member->options_.cluster.tasks) {
    if (type == TaskType::kEvaluator) continue;
    for (const auto& [index, address] : tasks) {
      v1::Member* listed = request.add_cluster();
      *listed->mutable_task() = TaskToProto({type, index});
      listed->set_address(address);
    }
  }
  const absl::Duration start_timeout = member->options_.start_timeout;
  const absl::Time deadline = MonotonicNow() + start_timeout;
  // What the error says: why there was no connection, if that is known, rather
  // than that the last attempt had no time left.
  absl::Status reason;
  absl::Time next_log = MonotonicNow() + kWaitLogInterval;
  while (true) {
    absl::StatusOr<v1::RegisterResponse> response = member->client_.Register(
        request,
        std::min(limits::kHeartbeatTimeout, deadline - MonotonicNow()));
    if (response.ok()) {
      member->registration_ = *std::move(response);
      member->options_.caller->SetJob(
          {member->registration_.job_id(), member->registration_.generation()});
      break;
    }
    const bool is_cut_off =
        absl::IsCancelled(response.status()) && MonotonicNow() < cut_off_until;
    if (!is_cut_off && !IsTransient(response.status())) {
      return response.status();
    }
    if (reason.ok() || absl::IsUnavailable(response.status())) {
      reason = response.status();
    }
    if (MonotonicNow() + kRegisterPause >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(
          "could not register within ", absl::FormatDuration(start_timeout),
          "; at last: ", reason.message()));
    }
    if (MonotonicNow() >= next_log) {
      LOG(WARNING) << "waiting for " << member->client_.description() << ": "
                   << reason.message();
      next_log = MonotonicNow() + kWaitLogInterval;
    }
    absl::SleepFor(kRegisterPause);
  }
  const absl::Status checked = CheckRegistration(member->registration_);
  if (!checked.ok()) {
    return Annotate(
        checked, absl::StrCat("Register to ", member->client_.description()));
  }
  member->heartbeat_interval_ =
      DurationFromProto(member->registration_.heartbeat_interval());
  member->heartbeat_timeout_ =
      DurationFromProto(member->registration_.heartbeat_timeout());
  member->last_answer_ = MonotonicNow();
  member->heartbeats_ = std::thread([raw = member.get()] { raw->Run(); });
  if (member->options_.check_job != nullptr) {
    const absl::Status accepted =
        member->options_.check_job(member->registration_.job());
    if (!accepted.ok()) {
      member->Leave(accepted);
      return accepted;
    }
  }
  return member;
}

Member::~Member() {
  {
    MutexLock lock(mutex_);
    leaving_ = true;
    poked_.NotifyAll();
  }
  if (heartbeats_.joinable()) heartbeats_.join();
}

absl::StatusOr<v1::AwaitStartResponse> Member::AwaitStart(
    v1::AwaitStartRequest sizes, const std::string& address) {
  *sizes.mutable_member() = self_;
  if (!address.empty()) sizes.mutable_member()->set_address(address);
  SetWaitingFor(
      absl::StrCat("the start of the job by ", client_.description()));
  while (true) {
    absl::StatusOr<v1::AwaitStartResponse> response =
        client_.AwaitStart(sizes, heartbeat_timeout_);
    // The heartbeats decide whether transient errors last too long.
    if (response.ok() ? response->started() : !IsTransient(response.status())) {
      SetWaitingFor("");
      return response;
    }
    if (!response.ok()) absl::SleepFor(absl::Milliseconds(50));
  }
}

absl::StatusOr<std::optional<v1::Lease>> Member::AcquireLease(
    const TakeSnapshot& take_snapshot,
    const ChangeVariables& change_variables) {
  v1::AcquireLeaseRequest request;
  *request.mutable_member() = self_;
  request.set_request(lease_request_);
  while (true) {
    absl::StatusOr<v1::AcquireLeaseResponse> response =
        client_.AcquireLease(request, heartbeat_timeout_);
    if (!response.ok()) {
      if (!IsTransient(response.status())) return response.status();
      if (Leaving()) return absl::CancelledError("the task is leaving");
      absl::SleepFor(absl::Milliseconds(50));
      continue;
    }
    switch (response->verdict()) {
      case v1::AcquireLeaseResponse::VERDICT_GRANTED: {
        const absl::Status checked = CheckLease(response->lease());
        if (!checked.ok()) {
          return Annotate(
              checked, absl::StrCat("AcquireLease to ", client_.description()));
        }
        ++lease_request_;
        return std::optional<v1::Lease>(response->lease());
      }
      case v1::AcquireLeaseResponse::VERDICT_NEXT_PHASE:
        is_phase_over_ = true;
        return std::optional<v1::Lease>();
      case v1::AcquireLeaseResponse::VERDICT_DONE:
        return std::optional<v1::Lease>();
      case v1::AcquireLeaseResponse::VERDICT_WAIT:
        continue;
      case v1::AcquireLeaseResponse::VERDICT_SNAPSHOT: {
        if (!take_snapshot) {
          return absl::InternalError(absl::StrCat(
              "AcquireLease to ", client_.description(),
              ": it asks for a snapshot, but this task holds no variables"));
        }
        ASSIGN_OR_RETURN(const std::function<void()> write,
                         take_snapshot(response->snapshot_name()));
        v1::ReportCheckpointRequest copied;
        *copied.mutable_member() = self_;
        copied.set_name(response->snapshot_name());
        SendReport(copied);
        write();
        continue;
      }
      case v1::AcquireLeaseResponse::VERDICT_ORDER:
        RETURN_IF_ERROR(CarryOut(response->order(), change_variables));
        continue;
      default:
        return absl::InternalError(
            absl::StrCat("AcquireLease to ", client_.description(),
                         ": unknown verdict ", response->verdict()));
    }
  }
}

absl::Status Member::CarryOut(const v1::VariablesOrder& order,
                              const ChangeVariables& change_variables) {
  const std::string call =
      absl::StrCat("AcquireLease to ", client_.description());
  const absl::Status checked = CheckOrder(order);
  if (!checked.ok()) {
    return absl::InternalError(absl::StrCat(call, ": ", checked.message()));
  }
  if (!change_variables) {
    return absl::InternalError(
        absl::StrCat(call,
                     ": it orders a change of the variables, but this task "
                     "holds none"));
  }
  absl::Status status;
  if (order.number() > last_order_) {
    status = change_variables(order);
    last_order_ = order.number();
  }
  v1::ReportOrderRequest report;
  *report.mutable_member() = self_;
  report.set_number(order.number());
  *report.mutable_error() = ErrorToProto(status);
  Deliver(
      [&] { return client_.ReportOrder(report, heartbeat_timeout_).status(); });
  return status;
}

void Member::ReportCheckpoint(const std::string& name,
                              const absl::StatusOr<ShardFile>& file) {
  v1::ReportCheckpointRequest report;
  *report.mutable_member() = self_;
  report.set_name(name);
  if (file.ok()) {
    *report.mutable_file() = ToProto(*file);
  } else {
    *report.mutable_error() = ErrorToProto(file.status());
  }
  SendReport(report);
}

void Member::ReportTrace(v1::ReportTraceRequest report) {
  *report.mutable_member() = self_;
  DeliverForCallbacks("a trace", [&] {
    return client_.ReportTrace(report, heartbeat_timeout_).status();
  });
}

void Member::ReportImages(v1::ReportImagesRequest report) {
  *report.mutable_member() = self_;
  DeliverForCallbacks("images of the first batch", [&] {
    return client_.ReportImages(report, heartbeat_timeout_).status();
  });
}

void Member::SendReport(const v1::ReportCheckpointRequest& request) {
  Deliver([&] {
    return client_.ReportCheckpoint(request, heartbeat_timeout_).status();
  });
}

void Member::DeliverForCallbacks(absl::string_view what,
                                 absl::FunctionRef<absl::Status()> send) {
  const absl::Time deadline = MonotonicNow() + 2 * heartbeat_timeout_;
  Deliver([&]() -> absl::Status {
    const absl::Status status = send();
    if (!IsTransient(status) || MonotonicNow() < deadline) return status;
    return absl::FailedPreconditionError(
        absl::StrCat("the leader did not take ", what,
                     ", which is lost: ", status.message()));
  });
}

void Member::Deliver(absl::FunctionRef<absl::Status()> send) {
  while (!Leaving()) {
    const absl::Status status = send();
    if (!IsTransient(status)) {
      LOG_IF(WARNING, !status.ok()) << status;
      return;
    }
    absl::SleepFor(absl::Milliseconds(50));
  }
}

void Member::Report(const v1::LeaseReport& report, bool complete) {
  MutexLock lock(mutex_);
  if (!pending_.AddLease(report, complete)) return;
  beat_now_ = true;
  poked_.NotifyAll();
}

void Member::ReportStep(const v1::StepReport& step) {
  MutexLock lock(mutex_);
  pending_.AddStep(step);
}

void Member::SetWaitingFor(absl::string_view what) {
  MutexLock lock(mutex_);
  waiting_for_.assign(what.data(), what.size());
}

std::string Member::waiting_for() {
  MutexLock lock(mutex_);
  return waiting_for_;
}

void Member::AskToLeave() {
  MutexLock lock(mutex_);
  is_asked_to_leave_ = true;
  beat_now_ = true;
  poked_.NotifyAll();
}

void Member::Leave(const absl::Status& reason) {
  {
    MutexLock lock(mutex_);
    if (leaving_) return;
    leaving_ = true;
    poked_.NotifyAll();
  }
  heartbeats_.join();
  // Beat again while each heartbeat delivers some of the pending reports.
  size_t before;
  do {
    before = PendingCount();
  } while (Beat() && PendingCount() > 0 && PendingCount() < before);
  SendLeave(reason);
}

void Member::SendLeave(const absl::Status& reason) {
  v1::LeaveRequest request;
  *request.mutable_member() = self_;
  *request.mutable_error() = ErrorToProto(reason);
  request.set_peak_rss_bytes(PeakResidentBytes());
  const absl::StatusOr<v1::LeaveResponse> response =
      client_.Leave(request, limits::kShutdownTimeout);
  if (!response.ok()) LOG(WARNING) << response.status();
}

size_t Member::PendingCount() {
  MutexLock lock(mutex_);
  return pending_.size();
}

bool Member::Leaving() {
  MutexLock lock(mutex_);
  return leaving_;
}

void Member::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!leaving_ && !beat_now_) {
        poked_.WaitFor(mutex_, heartbeat_interval_);
      }
      if (leaving_) return;
      beat_now_ = false;
    }
    if (!Beat()) return;
  }
}

v1::HeartbeatRequest Member::NextHeartbeat(bool& is_full) {
  v1::HeartbeatRequest request;
  *request.mutable_member() = self_;
  request.set_activity(activity_);
  request.set_peak_rss_bytes(PeakResidentBytes());
  MutexLock lock(mutex_);
  request.set_waiting_for(waiting_for_);
  request.set_leaves(is_asked_to_leave_);
  is_full = pending_.MoveInto(request);
  return request;
}

bool Member::Beat() {
  bool is_full;
  const v1::HeartbeatRequest request = NextHeartbeat(is_full);
  // The heartbeat timeout counts from the leader's last answer, not from the
  // start of this call.
  const absl::Time silence_ends = last_answer_ + heartbeat_timeout_;
  absl::StatusOr<v1::HeartbeatResponse> response = client_.Heartbeat(
      request, std::max(silence_ends - MonotonicNow(), heartbeat_interval_));
  if (response.ok() && response->next_phase() &&
      !std::exchange(has_told_next_phase_, true)) {
    is_phase_over_ = true;
    if (options_.on_next_phase) options_.on_next_phase();
  }
  {
    MutexLock lock(mutex_);
    if (response.ok()) {
      last_answer_ = MonotonicNow();
      pending_.Arrived();
      beat_now_ |= is_full;
      if (!response->stop()) return true;
    } else {
      pending_.TakeBack(request);
      if (IsTransient(response.status())) {
        if (MonotonicNow() < silence_ends) return true;
        response = absl::DeadlineExceededError(absl::StrCat(
            "Heartbeat to ", client_.description(), ": no answer within ",
            absl::FormatDuration(heartbeat_timeout_)));
      }
    }
    if (leaving_) return false;
  }
  // The leader waits until each member that it stops has left.
  if (response.ok()) SendLeave(absl::OkStatus());
  options_.on_stop(response.ok() ? absl::OkStatus() : response.status());
  return false;
}

}  // namespace paceline
