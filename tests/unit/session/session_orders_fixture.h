// A session that orders changes of the variables, and helpers that carry them
// out.
#ifndef PACELINE_TESTS_UNIT_SESSION_SESSION_ORDERS_FIXTURE_H_
#define PACELINE_TESTS_UNIT_SESSION_SESSION_ORDERS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/callback/callback.h"
#include "common/callback/callback_list.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {

class SessionOrdersFixture : public SessionTest {
 protected:
  SessionOrdersFixture() {
    options_.job.set_epochs(3);
    test_examples_ = 20;
  }

  // The job's only callback from its next start on.
  void Use(std::unique_ptr<Callback> callback) {
    std::vector<std::unique_ptr<Callback>> callbacks;
    callbacks.push_back(std::move(callback));
    options_.callbacks = std::make_shared<CallbackList>(std::move(callbacks));
  }
  // Workers hold the variables, and take their steps together.
  void LetWorkersHoldVariables() {
    options_.tasks = {{kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
    options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
  }
  void StartWorkers() {
    Create();
    for (const ExpectedTask& task : options_.tasks) {
      ASSERT_TRUE(Register(task.id).ok());
      ASSERT_TRUE(AwaitStart(task.id).ok());
    }
  }
  // Both workers do their halves of all leases.
  bool TakeTheStepsTogether() {
    bool works = false;
    while (const auto lease = Acquire(kWorker0)) {
      works = true;
      EXPECT_EQ(Acquire(kWorker1)->id(), lease->id());
      const int64_t half =
          static_cast<int64_t>(lease->end() - lease->begin()) / 2;
      EXPECT_TRUE(Beat(kWorker0, {ReportOf(*lease, half)}).ok());
      EXPECT_TRUE(Beat(kWorker1, {ReportOf(*lease, half)}).ok());
    }
    return works;
  }

  // Works until the variables are to be changed, or there is nothing to do.
  // Checkpoints go to taken_.
  std::optional<ChangeVariables> WorkUntilOrder() {
    for (bool works = true; works;) {
      works = options_.tasks.front().id == kPs0 ? WorkUntilIdle(kWorker0) > 0
                                                : TakeTheStepsTogether();
      std::optional<ChangeVariables> change;
      for (Action& action : session_->TakeActions()) {
        if (auto* taken = std::get_if<TakeCheckpoint>(&action)) {
          taken_.push_back(*taken);
          session_->SnapshotTaken(absl::OkStatus(), now_);
          session_->CheckpointWritten(absl::OkStatus(), now_);
          works = true;
        } else if (auto* ordered = std::get_if<ChangeVariables>(&action)) {
          change = std::move(*ordered);
        }
      }
      EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
      if (change) return change;
    }
    return std::nullopt;
  }

  absl::Status ReportOrder(TaskId task, uint64_t number,
                           const absl::Status& error = absl::OkStatus()) {
    v1::ReportOrderRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_number(number);
    *request.mutable_error() = ErrorToProto(error);
    return session_->ReportOrder(request, now_);
  }
  // The order that the worker gets when it asks for a lease; 0: none.
  uint64_t OrderOf(TaskId task) {
    const auto answer = TryAcquire(task, requests_[task] + 1);
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok() || !answer->has_value()) return 0;
    EXPECT_EQ((*answer)->verdict(), v1::AcquireLeaseResponse::VERDICT_ORDER);
    return (*answer)->order().number();
  }
  // Gives the order to the workers, as the leader does.
  void Order(ChangeVariables change) {
    if (change.order.kind() == v1::VariablesOrder::KIND_LOAD) {
      change.order.set_checkpoint("step-000000000100");
    }
    session_->OrderVariables(change.order, now_);
  }

  std::vector<TakeCheckpoint> taken_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_SESSION_SESSION_ORDERS_FIXTURE_H_
