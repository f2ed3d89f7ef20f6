// Calls through shared memory, between threads and between processes.
#include "ps_server/mailbox_server.h"

#include <glog/logging.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/file_descriptor.h"
#include "common/rpc/mailbox_caller.h"
#include "gmock/gmock.h"
#include "tests/unit/ps_server/shard_fixture.h"
#include "tests/unit/ps_server/worker_messages.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kToken = 77;

// Mappings of shared memory in this process.
int MappingCount() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:paceline") != std::string::npos) ++count;
  }
  return count;
}

// Those of threads that are about to end go soon.
void AwaitMappings(int count) {
  const absl::Time deadline = MonotonicNow() + absl::Seconds(30);
  while (MappingCount() > count && MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(MappingCount(), count);
}

// A worker that calls through a mailbox.
class Worker : public WorkerMessages {
 public:
  explicit Worker(uint32_t rank = 0, size_t values_size = kSize)
      : WorkerMessages(rank, kIncarnation) {
    auto caller = MailboxCaller::Create(values_size);
    CHECK(caller.ok()) << caller.status();
    caller_ = *std::move(caller);
  }
  ~Worker() { caller_->End(absl::CancelledError("the worker goes")); }

  MailboxCaller& caller() { return *caller_; }

  bool StartPush(absl::Duration timeout = absl::Seconds(60)) {
    AdvancePush();
    return Start(MailboxMethod::kPush, push_, gradient_blocks_, &pushed_,
                 timeout);
  }
  bool StartPull(absl::Duration timeout = absl::Seconds(60)) {
    return Start(MailboxMethod::kPull, pull_, {}, &pulled_, timeout);
  }
  absl::Status Push(absl::Duration timeout = absl::Seconds(60)) {
    if (!StartPush(timeout)) return absl::UnknownError("not started");
    return Wait();
  }
  absl::Status Pull(absl::Duration timeout = absl::Seconds(60)) {
    if (!StartPull(timeout)) return absl::UnknownError("not started");
    return Wait();
  }
  void AwaitServer() {
    while (!caller_->is_served()) absl::SleepFor(absl::Milliseconds(1));
  }

 private:
  bool Start(MailboxMethod method, const google::protobuf::MessageLite& request,
             absl::Span<const DenseValues> gradients,
             google::protobuf::MessageLite* response, absl::Duration timeout) {
    MailboxCall call;
    call.method = method;
    call.request = &request;
    call.gradients = gradients;
    call.response = response;
    call.variables = absl::MakeSpan(variable_blocks_);
    call.deadline = MonotonicNow() + timeout;
    call.done = calls_.Open(0);
    if (caller_->Start(call)) return true;
    call.done(absl::UnknownError("not started"));
    return false;
  }

  std::shared_ptr<MailboxCaller> caller_;
};

// A thread that serves a worker.
class ServingThread {
 public:
  ServingThread(CallMailbox mailbox, Shard& shard)
      : server_(std::make_shared<MailboxServer>(std::move(mailbox), shard)),
        thread_([server = server_] { server->Run(); }) {}
  ServingThread(Worker& worker, Shard& shard)
      : ServingThread(MailboxOf(worker.caller()), shard) {
    worker.AwaitServer();
  }
  ~ServingThread() {
    server_->Close();
    thread_.join();
  }

 private:
  static CallMailbox MailboxOf(const MailboxCaller& caller) {
    auto mailbox = CallMailbox::Open(caller.reference(), caller.token());
    CHECK(mailbox.ok()) << mailbox.status();
    return *std::move(mailbox);
  }

  const std::shared_ptr<MailboxServer> server_;
  std::thread thread_;
};

// SGD without momentum, rate 0.5.
v1::Job PlainJob(v1::Consistency consistency = v1::CONSISTENCY_ASYNC) {
  v1::Job job = SmallJob();
  job.set_consistency(consistency);
  job.mutable_optimizer()->mutable_config()->mutable_fields()->erase(
      "momentum");
  return job;
}

using MailboxServerTest = ShardTest;

TEST_F(MailboxServerTest, PushesAreAppliedAndVariablesComeBack) {
  const auto shard = MakeShardOf(PlainJob(), kWorkersOfShard);
  const std::vector<float> before = Values(*shard);
  {
    Worker worker;
    EXPECT_FALSE(worker.StartPull()) << "nobody serves it";
    const ServingThread serving(worker, *shard);
    ASSERT_TRUE(worker.Pull().ok());
    EXPECT_EQ(worker.variables(), before);
    for (uint64_t step = 1; step <= 100; ++step) {
      const absl::Status status = worker.Push();
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(worker.pushed().applied());
      EXPECT_EQ(worker.pushed().step(), step);
      EXPECT_EQ(worker.variables(), Values(*shard));
    }
    EXPECT_FLOAT_EQ(worker.variables()[0], before[0] - 50.0f);
  }
  AwaitMappings(0);
}

TEST_F(MailboxServerTest, ErrorsOfTheShardComeBack) {
  const auto shard = MakeShardOf(PlainJob(), kWorkersOfShard);
  Worker worker;
  const ServingThread serving(worker, *shard);
  v1::FenceRequest fence;
  *fence.mutable_worker() = worker.id();
  v1::FenceResponse fenced;
  ASSERT_TRUE(shard->Fence(fence, fenced).ok());
  const absl::Status status = worker.Push();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker-0"));
  EXPECT_TRUE(worker.Pull().ok());
}

TEST_F(MailboxServerTest, AnAnswerMayComeLaterAndFromAnotherThread) {
  const auto shard = MakeShardOf(PlainJob(v1::CONSISTENCY_SYNC), 2);
  const std::vector<float> before = Values(*shard);
  Worker first(0);
  Worker second(1);
  const ServingThread serving_first(first, *shard);
  const ServingThread serving_second(second, *shard);
  for (int step = 1; step <= 50; ++step) {
    ASSERT_TRUE(first.StartPush());
    EXPECT_FALSE(first.StartPull()) << "one call at a time";
    ASSERT_TRUE(second.StartPush());
    ASSERT_TRUE(first.Wait().ok());
    ASSERT_TRUE(second.Wait().ok());
    EXPECT_EQ(first.variables(), second.variables());
    EXPECT_NEAR(first.variables()[0],
                before[0] - 0.5f * 2 * static_cast<float>(step), 1e-4);
  }
}

TEST_F(MailboxServerTest, AHeldPushKeepsTheMemoryUntilTheWorkerIsFenced) {
  const auto shard = MakeShardOf(PlainJob(v1::CONSISTENCY_SYNC), 2);
  v1::FenceRequest fence;
  {
    Worker worker;
    *fence.mutable_worker() = worker.id();
    {
      const ServingThread serving(worker, *shard);
      ASSERT_TRUE(worker.StartPush());
      absl::SleepFor(absl::Milliseconds(300));
    }
    worker.caller().End(absl::UnavailableError("gone"));
    EXPECT_EQ(worker.Wait(), absl::UnavailableError("gone"));
    EXPECT_FALSE(worker.StartPull());
  }
  AwaitMappings(1);
  v1::FenceResponse fenced;
  ASSERT_TRUE(shard->Fence(fence, fenced).ok());
  AwaitMappings(0);
}

TEST_F(MailboxServerTest, WhatDoesNotFitIsSaid) {
  const auto shard = MakeShardOf(PlainJob(), kWorkersOfShard);
  Worker worker(0, kSize - 1);
  const ServingThread serving(worker, *shard);
  EXPECT_FALSE(worker.StartPush()) << "no room for the gradients";
  EXPECT_EQ(worker.Pull().code(), absl::StatusCode::kResourceExhausted);
}

// --- One side alone ----------------------------------------------------------

// Takes calls, and answers as it is told.
class Callee {
 public:
  explicit Callee(Worker& worker)
      : mailbox_(*CallMailbox::Open(worker.caller().reference(),
                                    worker.caller().token())) {
    mailbox_.BeginToServe();
  }
  CallMailbox& mailbox() { return mailbox_; }
  void Answer(uint32_t code, const std::string& content,
              absl::Span<const DenseValues> blocks) {
    CHECK(mailbox_.Write(CallMailbox::kAnswer, code, content, blocks));
    mailbox_.Post(CallMailbox::kAnswer, mailbox_.posted(CallMailbox::kRequest));
  }

 private:
  CallMailbox mailbox_;
};

TEST(MailboxCallerTest, ACallEndsAtItsDeadlineAndTheNextWaitsForItsAnswer) {
  Worker worker;
  Callee callee(worker);
  const absl::Time begin = MonotonicNow();
  EXPECT_EQ(worker.Pull(absl::Milliseconds(50)).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(MonotonicNow() - begin, absl::Milliseconds(50));
  EXPECT_LT(MonotonicNow() - begin, absl::Milliseconds(900));
  EXPECT_FALSE(worker.StartPull()) << "the callee may still use the mailbox";
  callee.Answer(0, "", {});
  while (!worker.StartPull()) absl::SleepFor(absl::Milliseconds(1));
  callee.Answer(0, "", {});
  EXPECT_TRUE(worker.Wait().ok());
}

TEST(MailboxCallerTest, RefusesAnswersThatDoNotFit) {
  Worker worker;
  Callee callee(worker);
  const auto answer = [&](const std::string& content, uint32_t index,
                          size_t size) {
    CHECK(worker.StartPull());
    const DenseValues block = {index, v1::DATA_TYPE_FLOAT32, 1,
                               callee.mailbox().values().subspan(0, size)};
    callee.Answer(0, content, {&block, 1});
    return worker.Wait();
  };
  EXPECT_TRUE(answer("", 0, kSize).ok());
  for (const absl::Status& status :
       {answer("", 1, kSize), answer("", 0, kSize - 4),
        answer("\xff\xff", 0, kSize)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  }
  // The message was checked, the blocks are the callee's to spoil.
  ASSERT_TRUE(worker.StartPull());
  const DenseValues outside = {
      0,
      v1::DATA_TYPE_FLOAT32,
      1,
      {callee.mailbox().values().data() + 4096, kSize}};
  callee.Answer(0, "", {&outside, 1});
  EXPECT_EQ(worker.Wait().code(), absl::StatusCode::kInternal);
}

TEST_F(MailboxServerTest, AnswersRequestsThatMakeNoSenseWithErrors) {
  const auto shard = MakeShardOf(PlainJob(), kWorkersOfShard);
  auto made = CallMailbox::Create(4096, 1);
  ASSERT_TRUE(made.ok());
  CallMailbox mailbox = *std::move(made);
  const ServingThread serving(*CallMailbox::Open(*mailbox.reference(), 1),
                              *shard);
  uint32_t number = 0;
  const auto call = [&](uint32_t code, const std::string& content,
                        absl::Span<const DenseValues> blocks) {
    EXPECT_TRUE(mailbox.Write(CallMailbox::kRequest, code, content, blocks));
    mailbox.Post(CallMailbox::kRequest, ++number);
    while (mailbox.posted(CallMailbox::kAnswer) != number) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    MailboxMessage answer;
    EXPECT_TRUE(mailbox.Read(CallMailbox::kAnswer, answer).ok());
    return static_cast<absl::StatusCode>(answer.code);
  };
  using Code = absl::StatusCode;
  EXPECT_EQ(call(17, "", {}), Code::kUnimplemented);
  const uint32_t push = static_cast<uint32_t>(MailboxMethod::kPush);
  EXPECT_EQ(call(push, "\xff\xff", {}), Code::kInvalidArgument);
  EXPECT_EQ(call(push, "", {}), Code::kFailedPrecondition);
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  request.clear_gradients();
  const std::string content = request.SerializeAsString();
  const DenseValues outside = {
      0, v1::DATA_TYPE_FLOAT32, 0, {mailbox.values().data() + 4096, kSize}};
  EXPECT_EQ(call(push, content, {&outside, 1}), Code::kInvalidArgument);
  const DenseValues too_long = {0, v1::DATA_TYPE_FLOAT32, 0,
                                mailbox.values().subspan(0, kSize + 4)};
  EXPECT_EQ(call(push, content, {&too_long, 1}), Code::kInvalidArgument);
  const DenseValues right = {0, v1::DATA_TYPE_FLOAT32, 0,
                             mailbox.values().subspan(0, kSize)};
  EXPECT_EQ(call(push, content, {&right, 1}), Code::kOk);
}

// --- Processes ---------------------------------------------------------------

class MailboxProcessesTest : public ShardTest {
 protected:
  ~MailboxProcessesTest() override { Kill(); }

  // Runs `work(from_parent, to_parent)`, with ends of pipes, in a process of
  // its own.
  template <typename Work>
  void Fork(Work work) {
    int to_child[2];
    int to_parent[2];
    PCHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      work(to_child[0], to_parent[1]);
      _exit(0);
    }
    close(to_child[0]);
    close(to_parent[1]);
    out_ = FileDescriptor(to_child[1]);
    in_ = FileDescriptor(to_parent[0]);
  }
  void Kill() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  struct Invitation {
    RegionReference reference;
    uint64_t token = 0;
  };

  pid_t child_ = -1;
  FileDescriptor out_;
  FileDescriptor in_;
};

// Wherever it is in its work; mostly it copies.
TEST_F(MailboxProcessesTest, AKilledWorkerLeavesNothingAndDisturbsNobody) {
  const auto shard = MakeShardOf(PlainJob(), kWorkersOfShard);
  for (int i = 0; i < 8; ++i) {
    Admit(*shard, 0, 100 + i);
    Fork([i](int, int to_parent) {
      // By hand: threads must not be started after a fork.
      auto mailbox = CallMailbox::Create(kSize, kToken);
      const RegionReference reference = *mailbox->reference();
      PCHECK(write(to_parent, &reference, sizeof(reference)) ==
             sizeof(reference));
      const DenseValues gradients = {0, v1::DATA_TYPE_FLOAT32, 0,
                                     mailbox->values().subspan(0, kSize)};
      for (uint32_t number = 1;; ++number) {
        v1::PushRequest push;
        push.set_ps_incarnation(kIncarnation);
        push.set_pull(true);
        push.mutable_worker()->set_incarnation(100 + i);
        push.mutable_progress()->set_sequence(number);
        std::memset(mailbox->values().data(), 0, kSize);
        mailbox->Write(CallMailbox::kRequest,
                       static_cast<uint32_t>(MailboxMethod::kPush),
                       push.SerializeAsString(), {&gradients, 1});
        mailbox->Post(CallMailbox::kRequest, number);
        while (mailbox->posted(CallMailbox::kAnswer) != number) {
          FutexEvent& event = mailbox->event(CallMailbox::kAnswer);
          const uint32_t signals = event.signals();
          if (mailbox->posted(CallMailbox::kAnswer) == number) break;
          event.Wait(signals, MonotonicNow() + absl::Seconds(1),
                     absl::ZeroDuration());
        }
      }
    });
    RegionReference reference;
    PCHECK(read(in_.get(), &reference, sizeof(reference)) == sizeof(reference));
    auto mailbox = CallMailbox::Open(reference, kToken);
    ASSERT_TRUE(mailbox.ok()) << mailbox.status();
    {
      const ServingThread serving(*std::move(mailbox), *shard);
      // Also on a busy machine a push comes in that time.
      absl::SleepFor(absl::Milliseconds(100 + 7 * i));
      Kill();
      v1::PushResponse response;
      const auto sequence = static_cast<uint64_t>(i) + 1;
      EXPECT_TRUE(
          Push(*shard, PushRequest(*shard, sequence, 0.0f, 3), response).ok());
      EXPECT_GT(response.step(), sequence);
    }
    AwaitMappings(0);
  }
}

TEST_F(MailboxProcessesTest, AKilledServerEndsCallsAtTheirDeadline) {
  for (int i = 0; i < 5; ++i) {
    Fork([](int from_parent, int) {
      Invitation invitation;
      PCHECK(read(from_parent, &invitation, sizeof(invitation)) ==
             sizeof(invitation));
      const auto shard = MakeShardOf(PlainJob(), kWorkersOfShard);
      auto mailbox = CallMailbox::Open(invitation.reference, invitation.token);
      CHECK(mailbox.ok()) << mailbox.status();
      std::make_shared<MailboxServer>(*std::move(mailbox), *shard)->Run();
    });
    {
      Worker worker;
      const Invitation invitation = {worker.caller().reference(),
                                     worker.caller().token()};
      PCHECK(write(out_.get(), &invitation, sizeof(invitation)) ==
             sizeof(invitation));
      worker.AwaitServer();
      const absl::Time kill_at =
          MonotonicNow() + absl::Milliseconds(10 + 7 * i);
      absl::Status status;
      while (status.ok()) {
        if (MonotonicNow() > kill_at) Kill();
        status = worker.Push(absl::Milliseconds(200));
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
      Kill();
    }
    AwaitMappings(0);
  }
}

}  // namespace
}  // namespace paceline
