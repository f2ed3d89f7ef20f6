// The leader's calls to shards over connections that break at the wrong moment.
#include "common/session/leader/shard_calls.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/cluster/blame.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps_server/ps_service.h"
#include "tests/test_identity.h"
#include "tests/unit/ps_server/shard_fixture.h"
#include "tests/unit/session/resetting_proxy.h"

namespace paceline {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Calls `on_call` when a call of the leader has come, before it does what is
// asked for.
class WatchedService final : public PsService {
 public:
  explicit WatchedService(Shard& shard) : PsService(shard) {
    for (const char* name : {"Admit", "Fence", "Snapshot", "WriteCheckpoint",
                             "ReadCheckpoint", "DiscardCheckpoint"}) {
      RpcMethod method = methods().at(
          absl::StrCat("/paceline.v1.ParameterServerService/", name));
      method.handle = [this, handle = method.handle](ServerCall& call) {
        on_call();
        handle(call);
      };
      Add(name, std::move(method));
    }
  }

  std::function<void()> on_call = [] {};
};

// Waits for what a call reports.
template <typename T>
class Result {
 public:
  std::function<void(T)> Receiver() {
    return [this](T value) {
      MutexLock lock(mutex_);
      value_.emplace(std::move(value));
      changed_.NotifyAll();
    };
  }
  T Wait() {
    MutexLock lock(mutex_);
    while (!value_) changed_.WaitFor(mutex_, absl::Seconds(1));
    return *value_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<T> value_ ABSL_GUARDED_BY(mutex_);
};

template <typename Response>
using Answers = absl::StatusOr<std::vector<Response>>;

class ShardCallsTest : public ShardTest {
 protected:
  void SetUp() override {
    ShardTest::SetUp();
    shard_ = MakeShard();
    service_ = std::make_unique<WatchedService>(*shard_);
    auto server = StartTestServer("127.0.0.1:0", *service_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    proxy_ = std::make_unique<ResettingProxy>(server_->port());
    calls_ = std::make_unique<ShardCalls>(
        SmallJob(), std::vector<std::string>{proxy_->address()}, TestCaller());
    service_->on_call = [this] {
      ++call_count_;
      if (resets_left_ > 0) {
        --resets_left_;
        proxy_->Reset();
        absl::SleepFor(work_time_);
      }
    };
  }
  void TearDown() override {
    calls_.reset();
    server_.reset();
    ShardTest::TearDown();
  }

  absl::Status Admit(absl::Duration timeout = limits::kPsTimeout) {
    v1::WorkerId worker;
    worker.set_rank(1);
    worker.set_incarnation(77);
    Result<Answers<v1::AdmitResponse>> result;
    calls_->Admit({worker}, timeout, result.Receiver());
    return result.Wait().status();
  }

  std::unique_ptr<Shard> shard_;
  std::unique_ptr<WatchedService> service_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ResettingProxy> proxy_;
  std::unique_ptr<ShardCalls> calls_;
  std::atomic<int> call_count_ = 0;
  // Calls whose connection is reset before they begin.
  std::atomic<int> resets_left_ = 0;
  // How long such a call takes.
  absl::Duration work_time_ = absl::ZeroDuration();
};

TEST_F(ShardCallsTest, AdmitIsRepeated) {
  resets_left_ = 2;
  const absl::Status status = Admit();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(call_count_, 3);
}

TEST_F(ShardCallsTest, FenceIsRepeatedAndAnswersAsAtFirst) {
  v1::PushRequest push = PushRequest(*shard_, 5, 1.0f);
  push.mutable_progress()->mutable_lease()->set_examples(64);
  v1::PushResponse pushed;
  ASSERT_TRUE(Push(*shard_, push, pushed).ok());
  resets_left_ = 1;
  Result<Answers<v1::FenceResponse>> result;
  calls_->Fence(push.worker(), limits::kPsTimeout, result.Receiver());
  const Answers<v1::FenceResponse> answers = result.Wait();
  ASSERT_TRUE(answers.ok()) << answers.status();
  EXPECT_EQ(call_count_, 2);
  EXPECT_EQ((*answers)[0].progress().lease().examples(), 64u);
}

// The repeat comes while the first is still at work, too.
TEST_F(ShardCallsTest, CheckpointsAreRepeated) {
  for (const absl::Duration work_time :
       {absl::ZeroDuration(), absl::Milliseconds(700)}) {
    work_time_ = work_time;
    call_count_ = 0;
    const std::string folder = *CreateCheckpointFolder(directory_, 1);
    const std::string name = std::filesystem::path(folder).filename().string();
    resets_left_ = 1;
    Result<absl::Status> snapshot;
    calls_->Snapshot(name, [receive = snapshot.Receiver()](const auto& done) {
      receive(done.status());
    });
    const absl::Status taken = snapshot.Wait();
    ASSERT_TRUE(taken.ok()) << taken;
    resets_left_ = 1;
    Result<absl::StatusOr<std::vector<ShardFile>>> written;
    calls_->WriteCheckpoint(folder, /*is_kept=*/true, written.Receiver());
    const auto files = written.Wait();
    ASSERT_TRUE(files.ok()) << files.status();
    EXPECT_EQ((*files)[0].file, ShardFileName(0, 1));
    EXPECT_EQ(call_count_, 4);
  }
}

// A relative folder is one of the leader's machine; the shard writes into its
// own.
TEST_F(ShardCallsTest, FilesOfOtherMachinesAreCollected) {
  const std::string leaders = absl::StrCat("shard_calls_test.", getpid());
  const std::string folder = *CreateCheckpointFolder(leaders, 1);
  const std::string name = std::filesystem::path(folder).filename().string();
  const std::string file = absl::StrCat("/", name, "/", ShardFileName(0, 1));
  std::filesystem::create_directories(absl::StrCat(directory_, "/", name));
  Result<absl::Status> snapshot;
  calls_->Snapshot(name, [receive = snapshot.Receiver()](const auto& done) {
    receive(done.status());
  });
  ASSERT_TRUE(snapshot.Wait().ok());
  resets_left_ = 2;
  Result<absl::StatusOr<std::vector<ShardFile>>> written;
  calls_->WriteCheckpoint(folder, /*is_kept=*/false, written.Receiver());
  const auto files = written.Wait();
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(std::filesystem::file_size(leaders + file), (*files)[0].size_bytes);
  EXPECT_FALSE(std::filesystem::exists(directory_ + file));
  std::filesystem::remove_all(leaders);
}

TEST_F(ShardCallsTest, AShardOfAnotherMachineLoadsWhatIsKept) {
  const std::string leaders = absl::StrCat("shard_calls_kept.", getpid());
  // Takes a checkpoint; returns its name.
  const auto take = [&](int64_t step, bool is_kept) {
    const std::string folder = *CreateCheckpointFolder(leaders, step);
    const std::string name = NameOf(folder);
    std::filesystem::create_directories(absl::StrCat(directory_, "/", name));
    Result<absl::Status> snapshot;
    calls_->Snapshot(name, [receive = snapshot.Receiver()](const auto& done) {
      receive(done.status());
    });
    EXPECT_TRUE(snapshot.Wait().ok());
    Result<absl::StatusOr<std::vector<ShardFile>>> written;
    calls_->WriteCheckpoint(folder, is_kept, written.Receiver());
    const absl::Status status = written.Wait().status();
    EXPECT_TRUE(status.ok()) << status;
    return name;
  };
  const auto load = [&](uint64_t number, const std::string& name) {
    v1::VariablesOrder order;
    order.set_number(number);
    order.set_kind(v1::VariablesOrder::KIND_LOAD);
    order.set_checkpoint(name);
    Result<Answers<v1::ChangeVariablesResponse>> result;
    calls_->ChangeVariables(order, result.Receiver());
    return result.Wait().status();
  };
  const auto has_file = [](const std::string& folder, const std::string& name) {
    return std::filesystem::exists(
        absl::StrCat(folder, "/", name, "/", ShardFileName(0, 1)));
  };
  const auto train = [&](uint64_t sequence) {
    v1::PushResponse response;
    EXPECT_TRUE(
        Push(*shard_, PushRequest(*shard_, sequence, 1.0f), response).ok());
  };

  const std::string first = take(1, /*is_kept=*/true);
  train(1);
  const std::vector<float> best = Values(*shard_);
  const std::string second = take(2, /*is_kept=*/true);
  train(2);
  const std::string third = take(3, /*is_kept=*/false);
  // The leader has all, the shard what it may have to load.
  for (const std::string& name : {first, second, third}) {
    EXPECT_TRUE(has_file(leaders, name));
    EXPECT_EQ(has_file(directory_, name), name == second) << name;
  }
  EXPECT_NE(Values(*shard_), best);
  const absl::Status loaded = load(1, second);
  EXPECT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(Values(*shard_), best);
  EXPECT_EQ(load(2, first).code(), absl::StatusCode::kNotFound);
  std::filesystem::remove_all(leaders);
}

TEST_F(ShardCallsTest, AfterItsDeadlineACallFailsAndNamesTheTask) {
  resets_left_ = 1000;
  const absl::Time start = MonotonicNow();
  const absl::Status status = Admit(absl::Seconds(1));
  EXPECT_LT(MonotonicNow() - start, absl::Seconds(30));
  // By its own deadline, or by that of its last attempt.
  EXPECT_THAT(status.code(), AnyOf(absl::StatusCode::kDeadlineExceeded,
                                   absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("Admit to ps-0 at ", proxy_->address())));
  EXPECT_EQ(BlameOf(status),
            (Blame{{TaskType::kPs, 0}, proxy_->address(), "Admit"}));
  EXPECT_GT(call_count_, 1);
}

TEST_F(ShardCallsTest, OtherErrorsAreNotRepeated) {
  v1::WorkerId nobody;
  Result<Answers<v1::AdmitResponse>> result;
  calls_->Admit({nobody}, limits::kPsTimeout, result.Receiver());
  EXPECT_EQ(result.Wait().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(call_count_, 1);
}

TEST_F(ShardCallsTest, ItsEndEndsWhatIsRepeated) {
  resets_left_ = 1000;
  Result<Answers<v1::AdmitResponse>> result;
  calls_->Admit({}, absl::Hours(1), result.Receiver());
  while (call_count_ < 2) absl::SleepFor(absl::Milliseconds(1));
  calls_.reset();
  EXPECT_EQ(result.Wait().status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace paceline
