// What a session does about members that do not come, or disagree, before it
// starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionStartTest : public SessionTest {};

TEST_F(SessionStartTest, MembersAreToldTheFolderForCheckpoints) {
  options_.checkpoint_folder = "/out/checkpoint";
  Create();
  for (const TaskId task : {kPs0, kWorker0}) {
    const absl::StatusOr<v1::RegisterResponse> answer = Register(task);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->checkpoint_folder(), "/out/checkpoint");
  }
}

TEST_F(SessionStartTest, ExitBeforeTheStartEndsTheJob) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  session_->TaskExited(kWorker1, 127, now_);
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->task, kWorker1);
  EXPECT_THAT(Message(ended), HasSubstr("before the job started"));
}

TEST_F(SessionStartTest, ExitBeforeTheStartIsToldByTheErrorThatCameBefore) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  ASSERT_TRUE(
      Leave(kWorker0, absl::FailedPreconditionError("device: cuda: no GPU"))
          .ok());
  EXPECT_FALSE(session_->ended());
  session_->TaskExited(kWorker0, 1, now_);
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ended->task, kWorker0);
  EXPECT_EQ(Message(ended), "worker-0 at host-a:1: device: cuda: no GPU");
}

TEST_F(SessionStartTest, ALossBeforeTheStartEndsAJobThatIsPlacedOnce) {
  options_.places_once = true;
  for (const bool is_asked : {true, false}) {
    Create();
    ASSERT_TRUE(Register(kWorker0).ok());
    if (is_asked) {
      ASSERT_TRUE(Leave(kWorker0, absl::OkStatus()).ok());
    } else {
      Pass(absl::Seconds(20), {kWorker0});
    }
    const auto ended = Take<Ended>();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->task, kWorker0);
    EXPECT_EQ(ended->is_departure, is_asked);
    EXPECT_THAT(Message(ended), HasSubstr("before the job started"));
    incarnations_.clear();
  }
}

// And nothing else is told: nobody can take its place.
TEST_F(SessionStartTest, AJobThatIsPlacedOnceEndsByTheErrorOfAWorker) {
  options_.places_once = true;
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  ASSERT_TRUE(Register(kWorker1).ok());
  const absl::Status changed =
      absl::AbortedError("data.train.cache: the files changed");
  ASSERT_TRUE(Leave(kWorker0, changed).ok());
  ASSERT_TRUE(Leave(kWorker1, changed).ok());
  std::vector<std::string> ends;
  for (const Action& action : session_->TakeActions()) {
    EXPECT_FALSE(std::holds_alternative<Notice>(action));
    if (const auto* ended = std::get_if<Ended>(&action)) {
      ends.emplace_back(ended->status.message());
      EXPECT_EQ(ended->status.code(), absl::StatusCode::kAborted);
    }
  }
  EXPECT_THAT(ends, ElementsAre("worker-0 at host-a:1: data.train.cache: the "
                                "files changed"));
}

// Whoever asked the worker to leave has not stopped the job.
TEST_F(SessionStartTest, AJobThatIsPlacedOnceEndsWithAWorkerThatIsAsked) {
  options_.places_once = true;
  const absl::Status stopped = absl::CancelledError("stopped by a signal");
  const absl::Status changed = absl::AbortedError("the files changed");
  struct Case {
    absl::Status error;
    bool is_asked;
    absl::StatusCode code;
  };
  for (const Case& each : {Case{stopped, true, absl::StatusCode::kUnavailable},
                           Case{stopped, false, absl::StatusCode::kUnavailable},
                           Case{changed, true, absl::StatusCode::kAborted},
                           Case{changed, false, absl::StatusCode::kAborted}}) {
    SCOPED_TRACE(each.error.ToString());
    Create();
    ASSERT_TRUE(Register(kWorker0).ok());
    if (each.is_asked) BeatAndAskToLeave(kWorker0);
    EXPECT_FALSE(session_->ended());
    ASSERT_TRUE(Leave(kWorker0, each.error).ok());
    const auto ended = Take<Ended>();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->status.code(), each.code);
    EXPECT_EQ(Message(ended),
              absl::StrCat("worker-0 at host-a:1: ", each.error.message()));
    EXPECT_EQ(ended->task, kWorker0);
    EXPECT_EQ(ended->is_departure, each.is_asked);
    incarnations_.clear();
  }
}

TEST_F(SessionStartTest, TheStartAwaitsTheLeader) {
  works_ = false;
  options_.awaits_leader = true;
  Create();
  for (const ExpectedTask& task : options_.tasks) {
    ASSERT_TRUE(Register(task.id).ok());
    ASSERT_TRUE(AwaitStart(task.id).ok());
  }
  Pass(absl::Minutes(10), {});
  EXPECT_FALSE(Take<InitializeShards>());
  EXPECT_FALSE(session_->ended());
  session_->LeaderReady(now_);
  EXPECT_TRUE(Take<InitializeShards>());
  // Only now the time runs.
  Pass(absl::Seconds(29), {});
  EXPECT_FALSE(session_->ended());
  session_->LeaderReady(now_);
  Pass(absl::Seconds(2), {});
  EXPECT_THAT(Message(Take<Ended>()),
              HasSubstr("the job did not start within 30s"));
}

TEST_F(SessionStartTest, WorkersThatHoldTheVariablesAwaitTheLeader) {
  options_.tasks = {{kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
  options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
  options_.awaits_leader = true;
  Create();
  for (const ExpectedTask& task : options_.tasks) {
    ASSERT_TRUE(Register(task.id).ok());
    ASSERT_TRUE(AwaitStart(task.id).ok());
  }
  auto started = AwaitStart(kWorker0);
  ASSERT_TRUE(started.ok());
  EXPECT_FALSE(started->has_value());
  session_->LeaderReady(now_);
  started = AwaitStart(kWorker0);
  ASSERT_TRUE(started.ok());
  EXPECT_TRUE(started->has_value());
}

TEST_F(SessionStartTest, AJobThatAwaitsTheLeaderCanBeStopped) {
  options_.awaits_leader = true;
  Create();
  ASSERT_TRUE(Register(kPs0).ok());
  session_->Stop(absl::CancelledError("stopped"), now_);
  EXPECT_EQ(Message(Take<Ended>()), "stopped");
  session_->LeaderReady(now_);
  EXPECT_FALSE(Take<InitializeShards>());
}

TEST_F(SessionStartTest, StartTimeoutTellsWhyATaskLeft) {
  works_ = false;
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  ASSERT_TRUE(
      Leave(kWorker0, absl::FailedPreconditionError("device: cuda: no GPU"))
          .ok());
  Pass(absl::Seconds(31), {});
  EXPECT_THAT(
      Message(Take<Ended>()),
      HasSubstr("worker-0 at host-a:1 (it left: device: cuda: no GPU)"));
}

TEST_F(SessionStartTest, BadDataFileEndsTheJobWithItsCode) {
  Create();
  ASSERT_TRUE(Register(kWorker1).ok());
  ASSERT_TRUE(
      Leave(kWorker1, absl::NotFoundError("data.train.idx: no train.gz")).ok());
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ended->task, kWorker1);
  EXPECT_EQ(Message(ended),
            "worker-1 at host-b:1: data.train.idx: no train.gz");
}

TEST_F(SessionStartTest, WorkersThatReadDifferentDataEndTheJob) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  ASSERT_TRUE(Register(kWorker1).ok());
  ASSERT_TRUE(AwaitStart(kWorker0).ok());
  train_examples_ = 999;
  EXPECT_EQ(AwaitStart(kWorker1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(Take<Ended>()),
              AllOf(HasSubstr("worker-1 at host-b:1 reads 999 training"),
                    HasSubstr("worker-0 at host-a:1 reads 1000 training")));
}

TEST_F(SessionStartTest, TasksThatDisagreeEndTheJobBeforeItStarts) {
  options_.cluster.tasks[TaskType::kWorker] = {{0, "a:1"}, {1, "b:1"}};
  v1::RegisterRequest agrees;
  *agrees.mutable_member() = MemberOf(kWorker0);
  agrees.set_version("1.0");
  agrees.set_job_fingerprint("f1");
  for (const char* address : {"a:1", "b:1"}) {
    v1::Member* listed = agrees.add_cluster();
    listed->mutable_task()->set_type(v1::TASK_TYPE_WORKER);
    listed->mutable_task()->set_index(address[0] - 'a');
    listed->set_address(address);
  }
  struct Case {
    std::function<void(v1::RegisterRequest&)> change;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](auto& request) { request.set_version("0.9"); },
       "worker-0 at host-a:1 is refused: it is of version 0.9, the leader of "
       "version 1.0"},
      {[](auto& request) { request.set_job_fingerprint("f2"); },
       "fingerprint f2, the leader one with f1"},
      {[](auto& request) { request.mutable_cluster(1)->set_address("c:1"); },
       "its TF_CONFIG differs from the leader's: worker-1 at c:1 against "
       "worker-1 at b:1"}};
  for (const Case& each : cases) {
    Create();
    v1::RegisterRequest request = agrees;
    each.change(request);
    const auto refused = session_->Register(request, now_);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr(each.message));
    const std::optional<Ended> ended = Take<Ended>();
    EXPECT_THAT(Message(ended), HasSubstr(each.message));
    EXPECT_EQ(ended->task, kWorker0);
  }
  Create();
  EXPECT_TRUE(session_->Register(agrees, now_).ok());
  EXPECT_FALSE(Take<Ended>());
}

TEST_F(SessionStartTest, WhoAsksForNoPlaceOfTheJobEndsNothing) {
  options_.cluster.tasks[TaskType::kWorker] = {{0, "a:1"}, {1, "b:1"}};
  Create();
  v1::RegisterRequest request;
  *request.mutable_member() = MemberOf({TaskType::kWorker, 99});
  request.set_version("0.9");
  request.set_job_fingerprint("another");
  v1::Member* listed = request.add_cluster();
  *listed->mutable_task() = TaskToProto({TaskType::kWorker, 99});
  listed->set_address("c:1");
  const auto refused = session_->Register(request, now_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("worker-99 is not in the cluster of this job"));
  EXPECT_FALSE(session_->ended());
  EXPECT_THAT(Take<Notice>()->message, HasSubstr("worker-99 is not in"));
  EXPECT_EQ(session_->Register(request, now_).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(Take<Notice>()) << "one a second";
  EXPECT_TRUE(Register(kWorker0).ok());
}

TEST_F(SessionStartTest, RequestsThatNobodySendsAreRefusedAndTheJobWaitsOn) {
  Create();
  v1::RegisterRequest sound;
  *sound.mutable_member() = MemberOf(kWorker0);
  sound.set_version("1.0");
  const std::vector<std::function<void(v1::RegisterRequest&)>> changes = {
      [](auto& r) { r.mutable_member()->mutable_task()->set_index(1u << 31); },
      [](auto& r) {
        r.mutable_member()->mutable_task()->set_type(v1::TaskType(7));
      },
      [](auto& r) { r.mutable_member()->set_incarnation(0); },
      [](auto& r) { r.mutable_member()->set_address("a\x1b[2J:1"); },
      [](auto& r) { r.mutable_member()->set_address("a"); },
      [](auto& r) {
        r.mutable_member()->set_address(std::string(10'000, 'a') + ":1");
      },
      [](auto& r) { *r.add_cluster() = v1::Member(); },
      [](auto& r) {
        r.add_cluster()->mutable_task()->set_type(v1::TASK_TYPE_PS);
      },
      [](auto& r) {
        for (int i = 0; i < 2; ++i) {
          v1::Member* member = r.add_cluster();
          member->mutable_task()->set_type(v1::TASK_TYPE_PS);
          member->set_address("a:1");
        }
      }};
  for (const auto& change : changes) {
    v1::RegisterRequest request = sound;
    change(request);
    const absl::Status refused = session_->Register(request, now_).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("expected"));
    EXPECT_LT(refused.message().size(), 400);
    EXPECT_FALSE(session_->ended());
  }
  EXPECT_TRUE(session_->Register(sound, now_).ok());
}

TEST_F(SessionStartTest, TextOfAPeerIsEscapedAndShort) {
  Create();
  v1::RegisterRequest request;
  *request.mutable_member() = MemberOf(kWorker0);
  request.set_version("\x1b[31m" + std::string(1'000'000, '9'));
  EXPECT_EQ(session_->Register(request, now_).status().code(),
            absl::StatusCode::kInvalidArgument);
  const std::string message = Message(Take<Ended>());
  EXPECT_THAT(message, HasSubstr("it is of version \\x1b[31m999"));
  EXPECT_LT(message.size(), 400);
}

TEST_F(SessionStartTest, ImpossibleNumbersOfExamplesAreRefused) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  for (const int64_t count : {INT64_MAX, INT64_MIN, limits::kMaxExamples + 1}) {
    train_examples_ = count;
    const absl::Status refused = AwaitStart(kWorker0).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("train_examples: "));
    EXPECT_FALSE(session_->ended());
  }
}

TEST_F(SessionStartTest, NamesOfGpusAreBounded) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  v1::AwaitStartRequest request;
  *request.mutable_member() = MemberOf(kWorker0);
  request.set_nccl_id(std::string(limits::kMaxNcclIdBytes + 1, 'x'));
  EXPECT_EQ(session_->AwaitStart(request, now_).status().code(),
            absl::StatusCode::kInvalidArgument);
  request.clear_nccl_id();
  request.set_gpu_uuid(std::string(limits::kMaxGpuUuidBytes + 1, 'x'));
  EXPECT_EQ(session_->AwaitStart(request, now_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(SessionStartTest, APsThatCannotBeReachedIsTriedAgainForAWhile) {
  options_.connect_timeout = absl::Seconds(5);
  Create();
  for (const ExpectedTask& task : options_.tasks) {
    ASSERT_TRUE(Register(task.id).ok());
    ASSERT_TRUE(AwaitStart(task.id).ok());
  }
  ASSERT_TRUE(Take<InitializeShards>());
  const absl::Status unreachable = BlamedOnPs0(
      absl::UnavailableError("Initialize to ps-0 at host-p:1: refused"));
  session_->ShardsInitialized(unreachable, 0, now_);
  Pass(absl::Seconds(1), {});
  ASSERT_TRUE(Take<InitializeShards>());
  session_->ShardsInitialized(unreachable, 0, now_);
  Pass(absl::Seconds(5), {});
  ASSERT_TRUE(Take<InitializeShards>());
  session_->ShardsInitialized(unreachable, 0, now_);
  const std::optional<Ended> ended = Take<Ended>();
  EXPECT_THAT(Message(ended), HasSubstr("ps-0 at host-p:1: refused"));
  EXPECT_EQ(ended->task, kPs0);
}

TEST_F(SessionStartTest, TwoProcessesForOnePlaceEndTheJobBeforeItStarts) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  const uint64_t first = incarnations_[kWorker0];
  Restart(kWorker0);
  EXPECT_EQ(Register(kWorker0).status().code(), absl::StatusCode::kUnavailable);
  const uint64_t second = incarnations_[kWorker0];
  incarnations_[kWorker0] = first;
  Pass(absl::Seconds(3), {});
  incarnations_[kWorker0] = second;
  EXPECT_EQ(Register(kWorker0).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Message(Take<Ended>()),
              HasSubstr("two processes claim to be worker-0 at host-a:1"));
}

TEST_F(SessionStartTest, RefusesTasksThatAreNotInTheCluster) {
  Create();
  const auto refused = Register({TaskType::kWorker, 7});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("worker-7"));
}

TEST_F(SessionStartTest, StartTimeoutNamesEachMissingTask) {
  works_ = false;
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  Pass(absl::Seconds(31), {});
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(
      Message(ended),
      AllOf(HasSubstr("worker-0 at host-a:1 (it has not read its data)"),
            HasSubstr("worker-1 at host-b:1 (it has not registered)"),
            HasSubstr("ps-0 at host-p:1 (it has not registered)")));
}

TEST_F(SessionStartTest, AWorkerThatFetchesItsDataIsWaitedFor) {
  Create();
  ASSERT_TRUE(Register(kWorker0).ok());
  Pass(absl::Minutes(10), {});
  EXPECT_FALSE(session_->ended());
  works_ = false;
  Pass(absl::Seconds(29), {});
  EXPECT_FALSE(session_->ended());
  Pass(absl::Seconds(2), {});
  EXPECT_EQ(Take<Ended>()->status.code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(SessionStartTest, WorkerLostBeforeTheStartMayComeAgain) {
  Create();
  ASSERT_TRUE(Register(kPs0).ok());
  ASSERT_TRUE(Register(kWorker0).ok());
  Pass(absl::Seconds(9), {kWorker0});
  EXPECT_FALSE(session_->ended());
  Restart(kWorker0);
  EXPECT_TRUE(Register(kWorker0).ok());
}

}  // namespace
}  // namespace paceline
