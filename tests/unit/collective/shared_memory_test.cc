// A group of real processes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/collective/shared_group.h"
#include "worker/collective/collectives.h"
#include "worker/collective/shared_memory_transport.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

constexpr size_t kPayloadBytes = 1 << 20;

// A short message need not be read before the next one, to somebody else, is
// sent.
TEST(SharedMemoryTransportTest, MessagesToDifferentRanksKeepApart) {
  SharedGroup group(3, kPayloadBytes);
  std::vector<std::unique_ptr<SharedMemoryTransport>> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.push_back(group.Join(rank, absl::Seconds(60)));
  }
  const auto send = [&](int to, char content) {
    const std::string message(100, content);
    const absl::Status status = ranks[0]->Exchange(
        to, {reinterpret_cast<const std::byte*>(message.data()), 100}, to, 0,
        [](size_t, absl::Span<const std::byte>) {});
    EXPECT_TRUE(status.ok()) << status;
  };
  const auto receive = [&](int rank) {
    std::string message(100, ' ');
    const absl::Status status = ranks[rank]->ExchangeInto(
        0, {}, 0, {reinterpret_cast<std::byte*>(message.data()), 100});
    EXPECT_TRUE(status.ok()) << status;
    return message;
  };
  send(1, 'a');
  send(2, 'b');
  send(1, 'c');
  send(2, 'd');
  EXPECT_EQ(receive(1), std::string(100, 'a'));
  EXPECT_EQ(receive(2), std::string(100, 'b'));
  EXPECT_EQ(receive(1), std::string(100, 'c'));
  EXPECT_EQ(receive(2), std::string(100, 'd'));
}

// Two ranks, of which a forked process is one.
class SharedMemoryProcessesTest : public ::testing::Test {
 protected:
  ~SharedMemoryProcessesTest() override {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  // Rank 1 all-reduces its payload in a process of its own, until killed.
  void ForkRank1() {
    child_ = fork();
    if (child_ != 0) return;
    const auto transport = group_->Join(1, absl::Seconds(60));
    Collectives collectives(*transport);
    while (collectives.AllReduce(Values(*transport)).ok()) {
    }
    _exit(0);
  }

  static absl::Span<float> Values(const SharedMemoryTransport& transport) {
    return {reinterpret_cast<float*>(transport.payload().data()),
            kPayloadBytes / sizeof(float)};
  }

  std::unique_ptr<SharedGroup> group_ =
      std::make_unique<SharedGroup>(2, kPayloadBytes);
  pid_t child_ = -1;
};

TEST_F(SharedMemoryProcessesTest, PayloadsAreReduced) {
  ForkRank1();
  const auto transport = group_->Join(0, absl::Seconds(60));
  Collectives collectives(*transport);
  for (int i = 0; i < 20; ++i) {
    // Rank 1 goes on with the sum of the step before.
    const absl::Span<float> values = Values(*transport);
    const float theirs = i == 0 ? 0.0f : values[0];
    std::fill(values.begin(), values.end(), 1.0f);
    ASSERT_TRUE(collectives.AllReduce(values).ok());
    EXPECT_THAT(values, testing::Each(theirs + 1.0f));
  }
}

// Wherever the other side is in its work when it is killed.
TEST_F(SharedMemoryProcessesTest, AKilledPeerIsNamed) {
  for (int i = 0; i < 5; ++i) {
    ForkRank1();
    const auto transport = group_->Join(0, absl::Milliseconds(300));
    Collectives collectives(*transport);
    absl::Status status;
    const absl::Time kill_at = absl::Now() + absl::Milliseconds(20 + 7 * i);
    while (status.ok()) {
      if (absl::Now() > kill_at) kill(child_, SIGKILL);
      status = collectives.AllReduce(Values(*transport));
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("replica 1"));
    waitpid(child_, nullptr, 0);
    child_ = -1;
    // A group is of no use after an error: new regions for the next.
    group_ = std::make_unique<SharedGroup>(2, kPayloadBytes);
  }
}

TEST_F(SharedMemoryProcessesTest, AStoppedPeerIsNamed) {
  ForkRank1();
  const auto transport = group_->Join(0, absl::Milliseconds(500));
  Collectives collectives(*transport);
  ASSERT_TRUE(collectives.AllReduce(Values(*transport)).ok());
  kill(child_, SIGSTOP);
  absl::Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) {
    status = collectives.AllReduce(Values(*transport));
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("replica 1 did not come within 500ms"));
}

TEST_F(SharedMemoryProcessesTest, AWrongGroupIsRefused) {
  SharedMemoryOptions options;
  options.names = {"worker-0", "worker-1"};
  std::vector<SharedMemoryTransport::RegionPtr> swapped;
  swapped.push_back(*SharedMemoryTransport::MakeRegion(1, 2, 0));
  swapped.push_back(*SharedMemoryTransport::MakeRegion(0, 2, 0));
  const auto transport =
      SharedMemoryTransport::Create(options, std::move(swapped));
  EXPECT_EQ(transport.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(transport.status().message()),
              HasSubstr("worker-0: expected rank 0 of 2"));
}

}  // namespace
}  // namespace paceline
