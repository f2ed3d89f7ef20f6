// What a rank makes of memory that a peer has spoilt.
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/collective/shared_group.h"
#include "worker/collective/blamed_rank.h"
#include "worker/collective/shared_memory_transport.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

constexpr size_t kPeerPayloadBytes = 64 << 10;
// Of the layout, where these tests spoil it: who sleeps on a rank's event,
// whether it aborted and whom it blames, its mailboxes, and in a mailbox the
// counts and the first piece.
constexpr size_t kIsAsleep = 68;
constexpr size_t kAborted = 128;
constexpr size_t kBlamed = 140;
constexpr size_t kMailboxes = 1216;
constexpr size_t kMailboxBytes = 128;
constexpr size_t kSent = 0;
constexpr size_t kPieceOffset = 8;
constexpr size_t kPieceSize = 16;
constexpr size_t kMessageSize = 24;
constexpr size_t kTaken = 64;

// The message that rank 0 expects of rank 1, and where a well-meant one lies.
constexpr uint64_t kBytes = 4096;
constexpr uint64_t kOffset = 8192;

// Rank 0 of two, and the memory of rank 1.
class SharedMemoryPeerTest : public ::testing::Test {
 protected:
  template <typename T>
  std::atomic<T>& At(int rank, size_t at) {
    return *reinterpret_cast<std::atomic<T>*>(group_.memory(rank).data() + at);
  }
  template <typename T>
  std::atomic<T>& InMailbox(int from, int to, size_t at) {
    return At<T>(from, kMailboxes + kMailboxBytes * to + at);
  }

  // Rank 1 says that it sent a message.
  void Send(uint64_t offset, uint64_t size, uint64_t message_size) {
    InMailbox<uint64_t>(1, 0, kPieceOffset) = offset;
    InMailbox<uint64_t>(1, 0, kPieceSize) = size;
    InMailbox<uint64_t>(1, 0, kMessageSize) = message_size;
    InMailbox<uint32_t>(1, 0, kSent) = 1;
  }

  // Rank 0 takes it.
  absl::Status Receive() {
    return group_.Join(0, absl::Hours(1))
        ->Exchange(1, {}, 1, kBytes,
                   [&](size_t offset, absl::Span<const std::byte> data) {
                     EXPECT_EQ(offset % Transport::kPieceAlignment, 0u);
                     ASSERT_LE(data.size(), kBytes);
                     ASSERT_LE(offset, kBytes - data.size());
                     sum_ += std::accumulate(
                         data.begin(), data.end(), 0,
                         [](int sum, std::byte value) {
                           return sum + std::to_integer<int>(value);
                         });
                   });
  }

  SharedGroup group_{2, kPeerPayloadBytes};
  // Reads what the sink is given.
  int sum_ = 0;
};

TEST_F(SharedMemoryPeerTest, ASwallowedRingCostsASecond) {
  const auto ours = group_.Join(0, absl::Hours(1));
  const auto theirs = group_.Join(1, absl::Hours(1));
  std::atomic<bool> is_done = false;
  std::thread thief([&] {
    for (; !is_done; absl::SleepFor(absl::Microseconds(100))) {
      At<uint32_t>(0, kIsAsleep) = 0;
    }
  });
  std::thread sender([&] {
    absl::SleepFor(absl::Milliseconds(200));
    const std::vector<std::byte> message(kBytes);
    EXPECT_TRUE(theirs->ExchangeInto(0, message, 0, {}).ok());
  });
  const absl::Time begun_at = MonotonicNow();
  std::vector<std::byte> in(kBytes);
  const absl::Status status = ours->ExchangeInto(1, {}, 1, absl::MakeSpan(in));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_LT(MonotonicNow() - begun_at, absl::Seconds(20));
  is_done = true;
  sender.join();
  thief.join();
}

TEST_F(SharedMemoryPeerTest, PiecesThatCannotBeAreRefused) {
  struct Case {
    uint64_t offset;
    uint64_t size;
    uint64_t message_size;
    const char* error;
  };
  const uint64_t end = group_.memory(1).size();
  const std::vector<Case> cases = {
      {kOffset, kBytes, kBytes + 1, "sent 4097 bytes to replica 0"},
      {kOffset, kBytes + 64, kBytes, "sent 4160 bytes at 8192"},
      {kOffset, UINT64_MAX, kBytes, "which expects 4096 more"},
      {end - 64, kBytes, kBytes, "of its shared memory"},
      {UINT64_MAX - 63, kBytes, kBytes, "of its shared memory"},
      // Values would lie where no such value can.
      {kOffset + 1, kBytes, kBytes, "4096 bytes at 8193"},
      {kOffset, 65, kBytes, "65 bytes at 8192"},
      {kOffset, 0, kBytes, "0 bytes at 8192"},
  };
  for (const Case& piece : cases) {
    Send(piece.offset, piece.size, piece.message_size);
    const absl::Status status = Receive();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("replica 1 sent"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(piece.error));
    EXPECT_EQ(BlamedRank(status), 1);
  }
  Send(kOffset, kBytes, kBytes);
  EXPECT_TRUE(Receive().ok());
}

TEST_F(SharedMemoryPeerTest, CountsThatCannotBeEndTheExchangeAtOnce) {
  Send(kOffset, kBytes, kBytes);
  InMailbox<uint32_t>(1, 0, kSent) = 3;
  absl::Status status = Receive();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("replica 1: 3 pieces are under way"));
  EXPECT_EQ(BlamedRank(status), 1);

  InMailbox<uint32_t>(0, 1, kTaken) = 7;
  const std::vector<std::byte> out(kBytes);
  status = group_.Join(0, absl::Hours(1))->ExchangeInto(1, out, 1, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("replica 1"));
}

TEST_F(SharedMemoryPeerTest, AnAbortWithoutAReasonIsAnError) {
  At<uint32_t>(1, kAborted) = 2;
  EXPECT_EQ(Receive().code(), absl::StatusCode::kUnknown);
}

TEST_F(SharedMemoryPeerTest, AnAbortBlamesOnlyRanksOfTheGroup) {
  At<uint32_t>(1, kAborted) = 2;
  for (const auto& [told, blamed] :
       {std::pair(0, 0), {1, 1}, {2, -1}, {INT32_MAX, -1}, {INT32_MIN, -1}}) {
    At<int32_t>(1, kBlamed) = told;
    EXPECT_EQ(BlamedRank(Receive()), blamed) << told;
  }
}

// What is taken stays as it was checked, whatever the peer writes meanwhile.
TEST_F(SharedMemoryPeerTest, APieceThatChangesIsTakenAsItWasChecked) {
  Send(kOffset, kBytes, kBytes);
  std::atomic<bool> is_done = false;
  std::thread peer([&] {
    const std::vector<uint64_t> offsets = {kOffset, UINT64_MAX - 63,
                                           group_.memory(1).size() - 64};
    for (size_t i = 0; !is_done; ++i) {
      InMailbox<uint64_t>(1, 0, kPieceOffset) = offsets[i % offsets.size()];
      InMailbox<uint64_t>(1, 0, kPieceSize) = uint64_t{1} << 40;
      InMailbox<uint64_t>(1, 0, kPieceSize) = kBytes;
    }
  });
  int taken = 0;
  const absl::Time end = MonotonicNow() + absl::Milliseconds(500);
  while (MonotonicNow() < end) {
    const absl::Status status = Receive();
    if (status.ok()) {
      ++taken;
    } else {
      ASSERT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    }
  }
  is_done = true;
  peer.join();
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace paceline
