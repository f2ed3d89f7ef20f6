#include "worker/strategy/chunk_stream.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/test_identity.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

// One server, whose answers the test gives. Its client never connects.
class ChunkStreamTest : public ::testing::Test {
 protected:
  void MakeChunks(const std::vector<int64_t>& bytes, bool releases = true) {
    servers_.resize(1);
    servers_[0].client = std::make_unique<PsClient>(
        0, "127.0.0.1:1", TestCaller(), PsClientOptions());
    servers_[0].updated = {0, bytes.size()};
    for (const int64_t size : bytes) {
      ChunkCalls& chunk = chunks_.emplace_back();
      chunk.server = &servers_[0];
      chunk.bytes = size;
    }
    ChunkStreamOptions options;
    options.timeout = absl::Seconds(30);
    options.calls_per_server = 3;
    options.bytes_per_server = 10;
    options.on_waiting = [](const std::string&) {};
    if (lane_ != nullptr) options.lanes = {lane_};
    answers_.resize(bytes.size());
    stream_ = std::make_unique<ChunkStream>(
        std::move(options), absl::MakeSpan(servers_), absl::MakeSpan(chunks_));
    stream_->Begin(what_, &ChunkServer::updated,
                   [this](ChunkCalls& chunk, absl::Duration, CallDone done) {
                     const int index =
                         static_cast<int>(&chunk - chunks_.data());
                     MutexLock lock(mutex_);
                     started_.push_back(index);
                     answers_[index] = std::move(done);
                   });
    if (!releases) return;
    for (ChunkCalls& chunk : chunks_) stream_->Release(chunk);
  }

  // Otherwise the stream would wait for answers that nobody gives.
  void TearDown() override {
    for (CallDone& answer : answers_) {
      if (answer) std::exchange(answer, nullptr)(absl::CancelledError());
    }
  }

  void Answer(int chunk, const absl::Status& status = absl::OkStatus()) {
    ASSERT_TRUE(answers_[chunk]) << "chunk " << chunk << " was not sent";
    std::exchange(answers_[chunk], nullptr)(status);
    if (!status.ok()) return;
    ASSERT_TRUE(stream_->status().ok());
  }

  Mutex mutex_;
  const std::string what_ = "push";
  TraceLane* lane_ = nullptr;
  std::vector<ChunkServer> servers_;
  std::vector<ChunkCalls> chunks_;
  std::vector<CallDone> answers_;
  std::vector<int> started_;
  std::unique_ptr<ChunkStream> stream_;
};

TEST_F(ChunkStreamTest, LimitsTheCallsUnderWay) {
  MakeChunks({1, 1, 1, 1, 1});
  EXPECT_THAT(started_, ElementsAre(0, 1, 2));
  Answer(1);
  EXPECT_THAT(started_, ElementsAre(0, 1, 2, 3));
  for (const int chunk : {0, 2, 3, 4}) Answer(chunk);
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(ChunkStreamTest, RecordsWhenCallsAreUnderWay) {
  absl::Time now = absl::UnixEpoch();
  TraceRecorder recorder([&now] { return now; });
  lane_ = &recorder.AddLane("calls");
  lane_->Switch(true);
  MakeChunks({1, 1, 12, 1}, /*releases=*/false);
  now += absl::Nanoseconds(5);
  stream_->Release(chunks_[0]);
  now += absl::Nanoseconds(1);
  stream_->Release(chunks_[1]);
  now += absl::Nanoseconds(1);
  Answer(0);
  now += absl::Nanoseconds(1);
  Answer(1);
  // Nothing is under way, until the next one, behind which another waits.
  now += absl::Nanoseconds(10);
  stream_->Release(chunks_[2]);
  stream_->Release(chunks_[3]);
  now += absl::Nanoseconds(2);
  Answer(2);
  now += absl::Nanoseconds(2);
  Answer(3);
  EXPECT_TRUE(stream_->Finish().ok());
  EXPECT_THAT(started_, ElementsAre(0, 1, 2, 3));
  const Trace trace = recorder.Take();
  EXPECT_THAT(trace.names, ElementsAre("push"));
  ASSERT_EQ(trace.spans.size(), 2);
  EXPECT_EQ(trace.spans[0].begin_ns, 0);
  EXPECT_EQ(trace.spans[0].duration_ns, 3);
  EXPECT_EQ(trace.spans[1].begin_ns, 13);
  EXPECT_EQ(trace.spans[1].duration_ns, 4);
}

// Otherwise the last of several large chunks would miss its deadline on a slow
// link.
TEST_F(ChunkStreamTest, LimitsTheBytesUnderWay) {
  MakeChunks({4, 4, 4, 12, 1});
  EXPECT_THAT(started_, ElementsAre(0, 1));
  Answer(0);
  EXPECT_THAT(started_, ElementsAre(0, 1, 2));
  Answer(1);
  EXPECT_THAT(started_, ElementsAre(0, 1, 2));
  // Chunk 3 exceeds the limit, so it is sent alone.
  Answer(2);
  EXPECT_THAT(started_, ElementsAre(0, 1, 2, 3));
  Answer(3);
  EXPECT_THAT(started_, ElementsAre(0, 1, 2, 3, 4));
  Answer(4);
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(ChunkStreamTest, AfterAnErrorNoCallStarts) {
  MakeChunks({1, 1, 1, 1, 1});
  Answer(0, absl::InternalError("chunk 0"));
  Answer(1, absl::InternalError("chunk 1"));
  EXPECT_THAT(started_, ElementsAre(0, 1, 2));
  EXPECT_EQ(stream_->status().message(), "chunk 0");
}

// On the thread that receives an answer.
TEST_F(ChunkStreamTest, FinishSendsAllAndWaitsForThem) {
  MakeChunks({1, 1, 1, 1, 1}, /*releases=*/false);
  std::thread server([this] {
    for (int chunk = 0; chunk < 5; ++chunk) {
      CallDone answer;
      while (!answer) {
        absl::SleepFor(absl::Milliseconds(1));
        MutexLock lock(mutex_);
        answer = std::exchange(answers_[chunk], nullptr);
      }
      answer(absl::OkStatus());
    }
  });
  EXPECT_FALSE(stream_->has_ended());
  EXPECT_TRUE(stream_->Finish().ok());
  EXPECT_TRUE(stream_->has_ended());
  EXPECT_THAT(started_, ElementsAre(0, 1, 2, 3, 4));
  server.join();
}

TEST_F(ChunkStreamTest, FinishReturnsTheFirstError) {
  MakeChunks({1, 1, 1, 1, 1});
  Answer(1, absl::InternalError("chunk 1"));
  std::thread server([this] {
    for (const int chunk : {0, 2}) Answer(chunk, absl::InternalError("late"));
  });
  EXPECT_EQ(stream_->Finish().message(), "chunk 1");
  server.join();
  EXPECT_THAT(started_, ElementsAre(0, 1, 2));
}

// Servers that answer on threads of their own, and sometimes at once, on the
// thread that calls.
class ManyAnswersTest : public ::testing::Test {
 protected:
  static constexpr int kServers = 2;
  static constexpr int kChunksPerServer = 40;
  static constexpr int kCalls = 3;

  void SetUp() override {
    servers_.resize(kServers);
    for (size_t s = 0; s < kServers; ++s) {
      servers_[s].client = std::make_unique<PsClient>(
          static_cast<int>(s), "127.0.0.1:1", TestCaller(), PsClientOptions());
      servers_[s].updated = {s * kChunksPerServer, (s + 1) * kChunksPerServer};
    }
    for (int c = 0; c < kServers * kChunksPerServer; ++c) {
      ChunkCalls& chunk = chunks_.emplace_back();
      chunk.server = &servers_[c / kChunksPerServer];
      chunk.bytes = 1;
    }
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([this] { GiveAnswers(); });
    }
  }

  void TearDown() override {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  void Start(ChunkCalls& chunk, CallDone done) {
    const size_t index = &chunk - chunks_.data();
    std::function<void()> at_once;
    {
      MutexLock lock(mutex_);
      const size_t server = index / kChunksPerServer;
      started_.push_back(index);
      max_open_ = std::max(max_open_, ++open_[server]);
      std::function<void()> answer = [this, server, done = std::move(done)] {
        {
          MutexLock lock(mutex_);
          --open_[server];
        }
        done(absl::OkStatus());
      };
      if (index % 7 != 0) return answers_.push_back(std::move(answer));
      at_once = std::move(answer);
    }
    at_once();
  }

  void GiveAnswers() {
    while (!is_over_) {
      std::function<void()> answer;
      {
        MutexLock lock(mutex_);
        if (!answers_.empty()) {
          answer = std::move(answers_.back());
          answers_.pop_back();
        }
      }
      if (answer) {
        answer();
      } else {
        absl::SleepFor(absl::Microseconds(20));
      }
    }
  }

  std::vector<ChunkServer> servers_;
  std::vector<ChunkCalls> chunks_;
  Mutex mutex_;
  std::vector<std::function<void()>> answers_ ABSL_GUARDED_BY(mutex_);
  // In this round.
  std::vector<size_t> started_ ABSL_GUARDED_BY(mutex_);
  int open_[kServers] ABSL_GUARDED_BY(mutex_) = {};
  int max_open_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
};

TEST_F(ManyAnswersTest, EachChunkIsSentOnceInEachRound) {
  ChunkStreamOptions options;
  options.timeout = absl::Seconds(30);
  options.calls_per_server = kCalls;
  options.on_waiting = [](const std::string&) {};
  ChunkStream stream(std::move(options), absl::MakeSpan(servers_),
                     absl::MakeSpan(chunks_));
  for (int round = 0; round < 30; ++round) {
    stream.Begin("push", &ChunkServer::updated,
                 [this](ChunkCalls& chunk, absl::Duration, CallDone done) {
                   Start(chunk, std::move(done));
                 });
    // The last chunks become final first, as in backward.
    for (size_t c = chunks_.size(); c-- > chunks_.size() / 4;) {
      stream.Release(chunks_[c]);
    }
    ASSERT_TRUE(stream.Finish().ok());
    ASSERT_TRUE(stream.has_ended());
    MutexLock lock(mutex_);
    std::sort(started_.begin(), started_.end());
    ASSERT_EQ(started_.size(), chunks_.size());
    for (size_t c = 0; c < chunks_.size(); ++c) ASSERT_EQ(started_[c], c);
    started_.clear();
  }
  MutexLock lock(mutex_);
  EXPECT_LE(max_open_, kCalls);
}

}  // namespace
}  // namespace paceline
