// Which rank the errors of a group blame.
#include "worker/collective/blamed_rank.h"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/tls/tls_tunnels.h"
#include "glog/logging.h"
#include "gtest/gtest.h"
#include "tests/certificates/test_authority.h"
#include "tests/unit/collective/shared_group.h"
#include "worker/collective/memory_transport.h"
#include "worker/collective/socket_transport.h"

namespace paceline {
namespace {

constexpr int kRanks = 3;
using Ranks = std::vector<std::unique_ptr<Transport>>;

// With TLS between them if there are files for it.
Ranks OverSocketsWith(const TlsFiles& tls, absl::Duration timeout) {
  // By rank, to whom.
  std::array<std::vector<FileDescriptor>, kRanks> ends;
  std::array<std::unique_ptr<TlsTunnels>, kRanks> tunnels;
  for (auto& each : tunnels) {
    if (!tls.empty()) each = *TlsTunnels::Make(tls);
  }
  for (auto& row : ends) row.resize(kRanks);
  for (int a = 0; a < kRanks; ++a) {
    for (int b = a + 1; b < kRanks; ++b) {
      int pair[2];
      PCHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
      ends[a][b] = FileDescriptor(pair[0]);
      ends[b][a] = FileDescriptor(pair[1]);
      if (tls.empty()) continue;
      ends[b][a] = *tunnels[b]->Accept(std::move(ends[b][a]));
      ends[a][b] = *tunnels[a]->Dial(std::move(ends[a][b]), "127.0.0.1:1",
                                     absl::Seconds(20));
    }
  }
  Ranks ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    SocketOptions options;
    options.rank = rank;
    options.timeout = timeout;
    options.tunnels = std::move(tunnels[rank]);
    for (int i = 0; i < kRanks; ++i) {
      options.names.push_back(absl::StrCat("replica ", i));
    }
    auto transport =
        SocketTransport::Create(std::move(options), std::move(ends[rank]));
    CHECK(transport.ok()) << transport.status();
    ranks.push_back(*std::move(transport));
  }
  return ranks;
}

Ranks OverSockets(absl::Duration timeout) {
  return OverSocketsWith({}, timeout);
}

Ranks OverTls(absl::Duration timeout) {
  const TestAuthority authority(testing::TempDir(), "blame_ca");
  return OverSocketsWith(authority.Issue("blame"), timeout);
}

Ranks OverSharedMemory(absl::Duration timeout) {
  const SharedGroup group(kRanks, /*payload_size=*/0);
  Ranks ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(group.Join(rank, timeout));
  }
  return ranks;
}

absl::Status Receive(int from, size_t size, Transport& transport) {
  std::vector<std::byte> bytes(size);
  return transport.ExchangeInto(from, {}, from, absl::MakeSpan(bytes));
}

TEST(BlamedRankTest, TravelsWithAnError) {
  const absl::Status plain = absl::UnavailableError("gone");
  EXPECT_EQ(BlamedRank(plain), -1);
  EXPECT_EQ(BlamedRank(WithBlamedRank(0, plain)), 0);
  const absl::Status error = WithBlamedRank(7, plain);
  EXPECT_EQ(BlamedRank(Annotate(error, "layer dense")), 7);
  EXPECT_EQ(WithBlamedRank(-1, error), plain);
  EXPECT_TRUE(WithBlamedRank(7, absl::OkStatus()).ok());
}

class BlamedRankOverTest
    : public ::testing::TestWithParam<Ranks (*)(absl::Duration)> {
 protected:
  static Ranks Join(absl::Duration timeout = absl::Hours(1)) {
    return GetParam()(timeout);
  }
};
INSTANTIATE_TEST_SUITE_P(All, BlamedRankOverTest,
                         ::testing::Values(OverSockets, OverTls,
                                           OverSharedMemory));

TEST_P(BlamedRankOverTest, IsTheOneThatDoesNotCome) {
  const Ranks ranks = Join(absl::Milliseconds(50));
  const absl::Status status = Receive(/*from=*/1, 100, *ranks[0]);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_EQ(BlamedRank(status), 1);
}

TEST_P(BlamedRankOverTest, IsTheOneThatSendsAnotherSize) {
  const Ranks ranks = Join();
  const std::vector<std::byte> message(10);
  ASSERT_TRUE(ranks[1]->ExchangeInto(2, message, 2, {}).ok());
  const absl::Status status = Receive(/*from=*/1, 11, *ranks[2]);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(BlamedRank(status), 1);
}

TEST_P(BlamedRankOverTest, IsKnownToAllOnceOneHasAborted) {
  for (const int blamed : {-1, 0, 1}) {
    const Ranks ranks = Join();
    ranks[2]->Abort(WithBlamedRank(blamed, absl::UnavailableError("gone")));
    for (int rank = 0; rank < kRanks; ++rank) {
      const absl::Status status =
          Receive((rank + 2) % kRanks, 100, *ranks[rank]);
      EXPECT_EQ(status.message(), "gone");
      EXPECT_EQ(BlamedRank(status), blamed) << rank;
      if (!status.ok()) ranks[rank]->Abort(status);
    }
  }
}

TEST(BlamedRankOverSocketsTest, IsTheOneThatClosedItsConnection) {
  Ranks ranks = OverSockets(absl::Hours(1));
  ranks[1].reset();
  const absl::Status status = Receive(/*from=*/1, 100, *ranks[2]);
  EXPECT_EQ(status.message(), "replica 1 closed the connection");
  EXPECT_EQ(BlamedRank(status), 1);
}

// Rank 1 has learnt the reason first, and could not send it.
TEST(BlamedRankOverSocketsTest, IsWhomTheReasonBlamesThatComesAfterTheClose) {
  Ranks ranks = OverSockets(absl::Hours(1));
  ranks[1].reset();
  std::thread aborts([&ranks] {
    absl::SleepFor(absl::Milliseconds(50));
    ranks[0]->Abort(WithBlamedRank(0, absl::UnavailableError("out of memory")));
  });
  const absl::Status status = Receive(/*from=*/1, 100, *ranks[2]);
  aborts.join();
  EXPECT_EQ(status.message(), "out of memory");
  EXPECT_EQ(BlamedRank(status), 0);
}

// Rank 1 is lost while it sends the reason of an abort (socket_transport.h).
TEST(BlamedRankOverSocketsTest, IsKnownFromACutReason) {
  int pair[2];
  PCHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  std::vector<FileDescriptor> sockets(2);
  sockets[1] = FileDescriptor(pair[0]);
  FileDescriptor other(pair[1]);
  SocketOptions options;
  options.names = {"replica 0", "replica 1"};
  options.timeout = absl::Hours(1);
  const auto transport =
      SocketTransport::Create(std::move(options), std::move(sockets));
  ASSERT_TRUE(transport.ok()) << transport.status();
  constexpr uint64_t kSize = 100;
  const uint64_t header =
      uint64_t{2} << 56 | uint64_t{1} << 40 |
      static_cast<uint64_t>(absl::StatusCode::kInternal) << 32 | kSize;
  const std::string half = "a layer is";
  ASSERT_EQ(send(other.get(), &header, sizeof(header), 0),
            static_cast<ssize_t>(sizeof(header)));
  ASSERT_EQ(send(other.get(), half.data(), half.size(), 0),
            static_cast<ssize_t>(half.size()));
  shutdown(other.get(), SHUT_WR);
  const absl::Status status = Receive(/*from=*/1, 50, **transport);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), half);
  EXPECT_EQ(BlamedRank(status), 0);
}

// Its ranks are replicas of one process, and no tasks.
TEST(BlamedRankInMemoryTest, IsNone) {
  MemoryGroup group(2, absl::Milliseconds(50));
  const auto transport = group.MakeTransport(0);
  const absl::Status status = Receive(/*from=*/1, 100, *transport);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(BlamedRank(status), -1);
}

}  // namespace
}  // namespace paceline
