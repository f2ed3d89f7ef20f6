#include "tests/simulation/member_process.h"

#include "absl/strings/str_cat.h"
#include "common/cluster/blame.h"
#include "common/cluster/task_proto.h"
#include "common/limits.h"
#include "tests/simulation/leader_process.h"

namespace paceline {
namespace {

constexpr absl::Duration kRegisterPause = absl::Milliseconds(200);

}  // namespace

MemberProcess::MemberProcess(Simulator& simulator, LeaderProcess& leader,
                             TaskId task)
    : simulator_(simulator), leader_(leader) {
  *self_.mutable_task() = TaskToProto(task);
  self_.set_address(absl::StrCat("host-", task.ToString(), ":2222"));
  self_.set_incarnation(simulator_.Incarnation());
}

void MemberProcess::Register() {
  v1::RegisterRequest request;
  *request.mutable_member() = self_;
  using Answer = absl::StatusOr<v1::RegisterResponse>;
  simulator_.Call<Answer>(
      shared_from_this(), leader_.shared_from_this(),
      [&leader = leader_, request] {
        return leader.Handle([&](Session& session, absl::Time now) {
          return session.Register(request, now);
        });
      },
      [this](const Answer& answer) {
        if (absl::IsUnavailable(answer.status())) {
          simulator_.After(kRegisterPause, shared_from_this(),
                           [this] { Register(); });
        } else if (!answer.ok()) {
          Exit(answer.status());
        } else {
          last_answer_ = simulator_.now();
          BeatRegularly();
          Registered();
        }
      });
}

void MemberProcess::BeatRegularly() {
  if (simulator_.now() > last_answer_ + limits::kHeartbeatTimeout) {
    is_dead = true;
    return;
  }
  Beat();
  simulator_.After(limits::kHeartbeatInterval, shared_from_this(),
                   [this] { BeatRegularly(); });
}

void MemberProcess::Beat() {
  v1::HeartbeatRequest request;
  *request.mutable_member() = self_;
  request.set_leaves(is_asked_to_leave);
  AddProgress(request);
  using Answer = absl::StatusOr<v1::HeartbeatResponse>;
  simulator_.Send<Answer>(
      shared_from_this(), leader_.shared_from_this(),
      [&leader = leader_, request] {
        return leader.Handle([&](Session& session, absl::Time now) {
          return session.Heartbeat(request, now);
        });
      },
      [this, request](const Answer& answer) {
        if (!answer.ok() || answer->stop()) {
          Exit(answer.status());
          return;
        }
        last_answer_ = simulator_.now();
        ProgressArrived(request);
      });
}

void MemberProcess::Exit(const absl::Status& reason) {
  v1::LeaveRequest request;
  *request.mutable_member() = self_;
  *request.mutable_error() = ErrorToProto(reason);
  simulator_.Send<absl::Status>(
      shared_from_this(), leader_.shared_from_this(),
      [&leader = leader_, request] {
        return leader.Handle([&](Session& session, absl::Time now) {
          return session.Leave(request, now);
        });
      },
      [](const absl::Status&) {});
  is_dead = true;
}

}  // namespace paceline
