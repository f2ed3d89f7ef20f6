// How the ranks of a group find each other and agree on a transport.
#include "worker/collective/connect_group.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/file_descriptor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/certificates/test_authority.h"
#include "worker/collective/blamed_rank.h"
#include "worker/collective/collectives.h"
#include "worker/collective/handshake.h"
#include "worker/collective/shared_memory_transport.h"
#include "worker/collective/socket_transport.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ConnectGroupTest : public ::testing::Test {
 protected:
  using Result = absl::StatusOr<std::unique_ptr<Transport>>;

  explicit ConnectGroupTest(int world_size = 3) {
    for (int rank = 0; rank < world_size; ++rank) {
      auto listener = Listener::Open("127.0.0.1:0");
      EXPECT_TRUE(listener.ok()) << listener.status();
      const std::string address = absl::StrCat("127.0.0.1:", listener->port());
      peers_.push_back({absl::StrCat("worker-", rank, " at ", address), address,
                        static_cast<uint64_t>(100 + rank)});
      listeners_.push_back(*std::move(listener));
    }
  }

  // Connects some ranks at once; `change` may change their options.
  std::vector<Result> Connect(
      const std::vector<int>& ranks,
      const std::function<void(int rank, GroupOptions&)>& change) {
    std::vector<Result> results(peers_.size());
    std::vector<std::thread> threads;
    for (const int rank : ranks) {
      threads.emplace_back([&, rank] {
        GroupOptions options;
        options.rank = rank;
        options.peers = peers_;
        options.connect_timeout = absl::Seconds(20);
        options.timeout = absl::Seconds(20);
        change(rank, options);
        results[rank] =
            ConnectGroup(options, rank == 0 ? nullptr : &listeners_[rank]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  // Expects that all are there, and that an all-reduce works.
  static void ExpectSums(std::vector<Result>& results) {
    std::vector<std::thread> threads;
    for (Result& result : results) {
      ASSERT_TRUE(result.ok()) << result.status();
      threads.emplace_back([&result] {
        Collectives collectives(**result);
        std::vector<float> values(1000, static_cast<float>((*result)->rank()));
        EXPECT_TRUE(collectives.AllReduce(absl::MakeSpan(values)).ok());
        EXPECT_EQ(values.front(), 3);
        EXPECT_EQ(values.back(), 3);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<GroupPeer> peers_;
  std::vector<Listener> listeners_;
};

TEST_F(ConnectGroupTest, SharesMemoryOnOneMachine) {
  auto results = Connect({0, 1, 2}, [](int, GroupOptions&) {});
  ExpectSums(results);
  for (const Result& result : results) {
    EXPECT_NE(dynamic_cast<SharedMemoryTransport*>(result->get()), nullptr);
  }
}

TEST_F(ConnectGroupTest, AllUseSocketsIfOneCannotShareMemory) {
  auto results = Connect({0, 1, 2}, [](int rank, GroupOptions& options) {
    options.use_shared_memory = rank != 1;
  });
  ExpectSums(results);
  for (const Result& result : results) {
    EXPECT_NE(dynamic_cast<SocketTransport*>(result->get()), nullptr);
  }
}

TEST_F(ConnectGroupTest, MissingRanksAreNamed) {
  const auto results = Connect({0, 2}, [](int, GroupOptions& options) {
    options.connect_timeout = absl::Seconds(1);
  });
  // Rank 1 listens, but nobody answers there.
  EXPECT_THAT(results[0].status().ToString(),
              AllOf(HasSubstr("DEADLINE"), HasSubstr(peers_[1].name)));
  EXPECT_EQ(BlamedRank(results[0].status()), 1);
  EXPECT_THAT(results[2].status().ToString(),
              AllOf(HasSubstr("DEADLINE"), HasSubstr(peers_[0].name),
                    HasSubstr(peers_[1].name), Not(HasSubstr("worker-2"))));
  EXPECT_EQ(BlamedRank(results[2].status()), 1) << "rank 0 waits for it, too";
}

TEST_F(ConnectGroupTest, AnotherIncarnationIsTurnedAway) {
  const auto results = Connect({0, 1, 2}, [](int rank, GroupOptions& options) {
    options.connect_timeout = absl::Seconds(1);
    if (rank == 0) options.peers[0].incarnation = 99;
  });
  EXPECT_EQ(results[0].status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(results[1].status().ToString(), HasSubstr(peers_[0].name));
}

JobSecret SecretOf(const std::string& text) {
  return *JobSecret::FromText(text);
}

TEST_F(ConnectGroupTest, RanksProveThatTheyKnowTheSecret) {
  auto results = Connect({0, 1, 2}, [](int, GroupOptions& options) {
    options.job = {"00000000000000aa", 1};
    options.secret = SecretOf("the job's secret");
  });
  ExpectSums(results);
}

TEST_F(ConnectGroupTest, ARankWithAnotherSecretIsTurnedAway) {
  for (const bool is_dialer : {true, false}) {
    const auto results =
        Connect({0, 1, 2}, [&](int rank, GroupOptions& options) {
          options.connect_timeout = absl::Seconds(1);
          options.secret =
              SecretOf(rank == (is_dialer ? 0 : 2) ? "the secret of another job"
                                                   : "the job's secret");
        });
    for (const Result& result : results) {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
    }
    EXPECT_THAT(results[is_dialer ? 0 : 1].status().ToString(),
                HasSubstr("does not prove that it belongs to the job"));
  }
}

TEST_F(ConnectGroupTest, ARankOfAnotherGenerationIsTurnedAway) {
  const auto results = Connect({0, 1, 2}, [](int rank, GroupOptions& options) {
    options.connect_timeout = absl::Seconds(1);
    options.job = {"00000000000000aa", rank == 0 ? 2U : 1U};
  });
  for (const Result& result : results) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  }
}

class TlsGroupTest : public ConnectGroupTest {
 protected:
  // Over sockets, each rank with a certificate of its own.
  void UseTls(int rank, GroupOptions& options) const {
    options.use_shared_memory = false;
    options.secret = SecretOf("the job's secret");
    options.tls = authority_.Issue(absl::StrCat("ring_", rank));
  }

  const TestAuthority authority_{testing::TempDir(), "ring_ca"};
};

TEST_F(TlsGroupTest, RanksSumOverTls) {
  auto results = Connect({0, 1, 2}, [this](int rank, GroupOptions& options) {
    UseTls(rank, options);
  });
  ExpectSums(results);
}

// They verify each other before they leave the sockets.
TEST_F(TlsGroupTest, RanksOnOneMachineShareMemoryAllTheSame) {
  auto results = Connect({0, 1, 2}, [this](int rank, GroupOptions& options) {
    UseTls(rank, options);
    options.use_shared_memory = true;
  });
  ExpectSums(results);
  EXPECT_NE(dynamic_cast<SharedMemoryTransport*>(results[0]->get()), nullptr);
}

// Larger than all buffers on the way, in both directions at once.
TEST_F(TlsGroupTest, LargeMessagesArriveWhole) {
  auto results = Connect({0, 1, 2}, [this](int rank, GroupOptions& options) {
    UseTls(rank, options);
  });
  std::vector<std::thread> threads;
  for (Result& result : results) {
    ASSERT_TRUE(result.ok()) << result.status();
    threads.emplace_back([&transport = **result] {
      constexpr size_t kSize = (16 << 20) + 5;
      const int rank = transport.rank();
      std::vector<std::byte> out(kSize);
      for (size_t i = 0; i < kSize; ++i) {
        out[i] = static_cast<std::byte>(i * 7 + static_cast<size_t>(rank));
      }
      std::vector<std::byte> in(kSize);
      const int from = (rank + 2) % 3;
      const absl::Status status =
          transport.ExchangeInto((rank + 1) % 3, out, from, absl::MakeSpan(in));
      EXPECT_TRUE(status.ok()) << status;
      size_t wrong = 0;
      for (size_t i = 0; i < kSize; ++i) {
        wrong +=
            in[i] != static_cast<std::byte>(i * 7 + static_cast<size_t>(from));
      }
      EXPECT_EQ(wrong, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TlsGroupTest, ARankOfAnotherAuthorityIsTurnedAway) {
  const TestAuthority other(testing::TempDir(), "ring_other_ca");
  const auto results = Connect({0, 1, 2}, [&](int rank, GroupOptions& options) {
    UseTls(rank, options);
    options.connect_timeout = absl::Seconds(1);
    if (rank == 0) options.tls = other.Issue("ring_other");
  });
  for (const Result& result : results) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  }
  EXPECT_THAT(
      results[0].status().ToString(),
      AllOf(HasSubstr(peers_[1].name), HasSubstr("certificate is refused")));
}

TEST_F(TlsGroupTest, ARankWithoutTlsIsTurnedAway) {
  for (const int plain : {0, 2}) {
    const auto results =
        Connect({0, 1, 2}, [&](int rank, GroupOptions& options) {
          UseTls(rank, options);
          options.connect_timeout = absl::Seconds(1);
          if (rank == plain) options.tls = {};
        });
    for (const Result& result : results) {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
    }
    if (plain == 0) continue;
    EXPECT_THAT(results[1].status().ToString(),
                AllOf(HasSubstr(peers_[2].name), HasSubstr("TLS")));
  }
}

// As anybody may send them.
TEST(HandshakeTest, ReadsOnlyWhatIsAHello) {
  Hello hello;
  hello.from = 3;
  hello.job = {"00000000000000aa", 7};
  hello.region.inode = 9;
  const std::string bytes = WriteHello(hello);
  ASSERT_EQ(bytes.size(), kHelloSize);
  const auto read = ReadHello(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->from, 3);
  EXPECT_EQ(read->job, hello.job);
  EXPECT_EQ(read->region.inode, 9);
  EXPECT_EQ(ReadHello(bytes.substr(1)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadHello("X" + bytes.substr(1)).status().code(),
            absl::StatusCode::kInvalidArgument);
  std::string no_id = bytes;
  no_id[bytes.find("00aa")] = '\n';
  EXPECT_EQ(ReadHello(no_id).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Two connect to a port: one that says nothing, and one that talks nonsense.
std::vector<FileDescriptor> StrangersAt(int port) {
  std::vector<FileDescriptor> strangers;
  for (const bool talks : {false, true}) {
    FileDescriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(stranger.get(), reinterpret_cast<sockaddr*>(&address),
                      sizeof(address)),
              0);
    const std::string nonsense(200, 'x');
    if (talks) {
      EXPECT_EQ(send(stranger.get(), nonsense.data(), nonsense.size(), 0), 200);
    }
    strangers.push_back(std::move(stranger));
  }
  return strangers;
}

TEST_F(ConnectGroupTest, StrangersDoNotHoldItUp) {
  const auto strangers = StrangersAt(listeners_[2].port());
  auto results = Connect({0, 1, 2}, [](int, GroupOptions&) {});
  ExpectSums(results);
}

TEST_F(TlsGroupTest, StrangersDoNotHoldItUp) {
  const auto strangers = StrangersAt(listeners_[2].port());
  auto results = Connect({0, 1, 2}, [this](int rank, GroupOptions& options) {
    UseTls(rank, options);
  });
  ExpectSums(results);
}

}  // namespace
}  // namespace paceline
