#include "worker/strategy/chunk_stream.h"

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

}  // namespace
}  // namespace paceline
