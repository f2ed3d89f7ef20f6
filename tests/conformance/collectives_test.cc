// What collectives promise, over each transport and number of ranks.
#include "worker/collective/collectives.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/faulty_transport.h"
#include "tests/unit/collective/shared_group.h"
#include "worker/collective/memory_transport.h"
#include "worker/collective/moments_block.h"
#include "worker/collective/socket_transport.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);

// A group of ranks, each to be run by a thread of its own.
class Group {
 public:
  virtual ~Group() = default;
  virtual std::unique_ptr<Transport> MakeTransport(int rank) = 0;
};

class InMemory : public Group {
 public:
  InMemory(int world_size, absl::Duration timeout)
      : group_(world_size, timeout) {}
  std::unique_ptr<Transport> MakeTransport(int rank) override {
    return group_.MakeTransport(rank);
  }

 private:
  MemoryGroup group_;
};

class InSharedMemory : public Group {
 public:
  InSharedMemory(int world_size, absl::Duration timeout)
      : group_(world_size, /*payload_size=*/0), timeout_(timeout) {}
  std::unique_ptr<Transport> MakeTransport(int rank) override {
    return group_.Join(rank, timeout_);
  }

 private:
  const SharedGroup group_;
  const absl::Duration timeout_;
};

class OverSockets : public Group {
 public:
  OverSockets(int world_size, absl::Duration timeout) : timeout_(timeout) {
    ends_.resize(world_size);
    for (auto& row : ends_) row.resize(world_size);
    for (int a = 0; a < world_size; ++a) {
      for (int b = a + 1; b < world_size; ++b) {
        int pair[2];
        PCHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        ends_[a][b] = FileDescriptor(pair[0]);
        ends_[b][a] = FileDescriptor(pair[1]);
      }
    }
  }
  std::unique_ptr<Transport> MakeTransport(int rank) override {
    SocketOptions options;
    options.rank = rank;
    options.timeout = timeout_;
    for (size_t i = 0; i < ends_.size(); ++i) {
      options.names.push_back(absl::StrCat("replica ", i));
    }
    auto transport =
        SocketTransport::Create(std::move(options), std::move(ends_[rank]));
    CHECK(transport.ok()) << transport.status();
    return *std::move(transport);
  }

 private:
  const absl::Duration timeout_;
  // The sockets by rank and peer.
  std::vector<std::vector<FileDescriptor>> ends_;
};

// Runs body(rank, collectives) on each rank at once; returns their results. A
// rank that fails ends the group, as a strategy does.
using Body = std::function<absl::Status(int rank, Collectives& collectives)>;
std::vector<absl::Status> RunRanks(Group& group, int world_size,
                                   const Body& body, int faulty_rank = -1,
                                   Fault fault = {}) {
  std::vector<absl::Status> results(world_size);
  std::vector<std::thread> threads;
  threads.reserve(world_size);
  for (int rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([&, rank] {
      FaultyTransport transport(group.MakeTransport(rank),
                                rank == faulty_rank ? fault : Fault());
      Collectives collectives(transport);
      results[rank] = body(rank, collectives);
      if (!results[rank].ok()) transport.Abort(results[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

void ExpectAllOk(const std::vector<absl::Status>& results) {
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result;
}

// A value of a rank that tells rank and position, and makes sums inexact.
template <typename T>
T ValueOf(int rank, int64_t i) {
  return static_cast<T>(std::sin(0.7 * rank + 0.1 * static_cast<double>(i)));
}

template <typename T>
std::vector<T> ValuesOf(int rank, int64_t count) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = ValueOf<T>(rank, i);
  return values;
}

double SumOf(int world_size, int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < world_size; ++rank) sum += ValueOf<double>(rank, i);
  return sum;
}

using MakeGroup = std::unique_ptr<Group> (*)(int, absl::Duration);

template <typename G>
std::unique_ptr<Group> Make(int world_size, absl::Duration timeout) {
  return std::make_unique<G>(world_size, timeout);
}

struct TransportCase {
  const char* name;
  MakeGroup make;
};
constexpr TransportCase kTransports[] = {{"Memory", Make<InMemory>},
                                         {"SharedMemory", Make<InSharedMemory>},
                                         {"Sockets", Make<OverSockets>}};

class CollectivesTest
    : public ::testing::TestWithParam<std::tuple<TransportCase, int>> {
 protected:
  int world_size() const { return std::get<int>(GetParam()); }

  std::vector<absl::Status> Run(const Body& body,
                                absl::Duration timeout = kTimeout,
                                int faulty_rank = -1, Fault fault = {}) {
    const auto group =
        std::get<TransportCase>(GetParam()).make(world_size(), timeout);
    return RunRanks(*group, world_size(), body, faulty_rank, fault);
  }

  // The values after an all-reduce, by rank.
  template <typename T>
  std::vector<std::vector<T>> AllReduced(int64_t count,
                                         WireType wire = WireType::kNative) {
    std::vector<std::vector<T>> values(world_size());
    ExpectAllOk(Run([&](int rank, Collectives& collectives) {
      values[rank] = ValuesOf<T>(rank, count);
      return collectives.AllReduce(absl::MakeSpan(values[rank]), wire);
    }));
    return values;
  }
};
INSTANTIATE_TEST_SUITE_P(All, CollectivesTest,
                         ::testing::Combine(::testing::ValuesIn(kTransports),
                                            ::testing::Values(1, 2, 3, 4, 5, 7,
                                                              8, 16)),
                         [](const auto& info) {
                           return absl::StrCat(std::get<0>(info.param).name,
                                               std::get<1>(info.param));
                         });

constexpr int64_t kCounts[] = {0, 1, 5, 16, 17, 250, 5000, 70'001};

TEST_P(CollectivesTest, AllReduceGivesAllRanksTheSum) {
  for (const int64_t count : kCounts) {
    const auto values = AllReduced<float>(count);
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_NEAR(values[0][i], SumOf(world_size(), i), 1e-5)
          << count << " " << i;
    }
    EXPECT_THAT(values, Each(values[0])) << count;
  }
}

TEST_P(CollectivesTest, AllReduceOfDoublesGivesTheSum) {
  for (const int64_t count : kCounts) {
    const auto values = AllReduced<double>(count);
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_NEAR(values[0][i], SumOf(world_size(), i), 1e-12);
    }
    EXPECT_THAT(values, Each(values[0])) << count;
  }
}

// Some ranks have no row. Means are large, and differences to them small.
TEST_P(CollectivesTest, AllReduceOfMomentsGivesThoseOfTheRowsOfAllRanks) {
  constexpr double kMean = 1e8;
  const auto rows_of = [](int rank) { return 2 * rank % 5; };
  const auto value = [](int rank, int row, int64_t column) {
    return static_cast<double>((rank + 3 * row + column) % 7);
  };
  // Row count, mean and Σ (x − mean)² over the rows of ranks [begin, end).
  const auto moments_of = [&](int begin, int end, int64_t column) {
    double rows = 0, mean = 0, deviation = 0;
    const auto for_each = [&](auto visit) {
      for (int rank = begin; rank < end; ++rank) {
        for (int row = 0; row < rows_of(rank); ++row) {
          visit(value(rank, row, column));
        }
      }
    };
    for_each([&](double) { ++rows; });
    for_each([&](double x) { mean += x / rows; });
    for_each([&](double x) { deviation += (x - mean) * (x - mean); });
    return std::tuple(rows, rows > 0 ? kMean + mean : 0, deviation);
  };
  for (const int64_t count : {1, 5, 250, 5000}) {
    std::vector<std::vector<MomentsBlock>> blocks(world_size());
    ExpectAllOk(Run([&](int rank, Collectives& collectives) {
      blocks[rank].resize(count);
      for (int64_t i = 0; i < count * MomentsBlock::kColumns; ++i) {
        MomentsBlock& block = blocks[rank][i / MomentsBlock::kColumns];
        const int64_t column = i % MomentsBlock::kColumns;
        std::tie(block.rows, block.means[column], block.deviations[column]) =
            moments_of(rank, rank + 1, i);
      }
      return collectives.AllReduce(absl::MakeSpan(blocks[rank]));
    }));
    for (int64_t i = 0; i < count * MomentsBlock::kColumns; ++i) {
      const MomentsBlock& block = blocks[0][i / MomentsBlock::kColumns];
      const int64_t column = i % MomentsBlock::kColumns;
      const auto [rows, mean, deviation] = moments_of(0, world_size(), i);
      ASSERT_EQ(block.rows, rows);
      ASSERT_NEAR(block.means[column], mean, 1e-6);
      ASSERT_NEAR(block.deviations[column], deviation, 1e-5);
    }
    for (const auto& of_rank : blocks) {
      EXPECT_EQ(std::memcmp(of_rank.data(), blocks[0].data(),
                            count * sizeof(MomentsBlock)),
                0);
    }
  }
}

TEST_P(CollectivesTest, HalfPrecisionOnTheWireRoundsOnceAnExchange) {
  // Rounding to 8 or 11 bits changes a value by at most half a unit in the last
  // place.
  const std::pair<WireType, double> wires[] = {{WireType::kBFloat16, 0x1p-8},
                                               {WireType::kFloat16, 0x1p-11}};
  for (const auto& [wire, rounding] : wires) {
    for (const int64_t count : kCounts) {
      const auto values = AllReduced<float>(count, wire);
      // Each of P roundings is of a sum of at most P values of at most 1.
      const double tolerance = rounding * world_size() * world_size();
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_NEAR(values[0][i], SumOf(world_size(), i), tolerance);
      }
      EXPECT_THAT(values, Each(values[0])) << count;
    }
  }
}

TEST_P(CollectivesTest, ARepeatGivesTheSameBits) {
  for (const int64_t count : kCounts) {
    EXPECT_EQ(AllReduced<float>(count), AllReduced<float>(count));
  }
}

TEST_P(CollectivesTest, ReduceScatterGivesEachRankItsPart) {
  for (const int64_t count : kCounts) {
    int64_t covered = 0;
    std::vector<std::vector<double>> values(world_size());
    ExpectAllOk(Run([&](int rank, Collectives& collectives) {
      values[rank] = ValuesOf<double>(rank, count);
      return collectives.ReduceScatter(absl::MakeSpan(values[rank]));
    }));
    for (int rank = 0; rank < world_size(); ++rank) {
      const Segment segment = SegmentOf(count, rank, world_size());
      EXPECT_EQ(segment.begin, covered);
      covered += segment.size;
      for (int64_t i = segment.begin; i < segment.begin + segment.size; ++i) {
        ASSERT_NEAR(values[rank][i], SumOf(world_size(), i), 1e-12);
      }
    }
    EXPECT_EQ(covered, count);
  }
}

TEST_P(CollectivesTest, AllGatherGivesEachRankAllParts) {
  for (const int64_t count : kCounts) {
    const std::vector<float> whole = ValuesOf<float>(3, count);
    std::vector<std::vector<float>> values(world_size());
    ExpectAllOk(Run([&](int rank, Collectives& collectives) {
      values[rank].assign(count, -1);
      const Segment segment = SegmentOf(count, rank, world_size());
      std::copy_n(whole.begin() + segment.begin, segment.size,
                  values[rank].begin() + segment.begin);
      return collectives.AllGather(absl::MakeSpan(values[rank]));
    }));
    EXPECT_THAT(values, Each(whole)) << count;
  }
}

TEST_P(CollectivesTest, BroadcastGivesAllRanksTheRootsBytes) {
  for (const size_t size : {0, 1, 100, 700'000}) {
    const int root = world_size() / 2;
    std::vector<std::vector<std::byte>> data(world_size());
    ExpectAllOk(Run([&](int rank, Collectives& collectives) {
      data[rank].assign(size, std::byte{static_cast<uint8_t>(rank)});
      return collectives.Broadcast(absl::MakeSpan(data[rank]), root);
    }));
    EXPECT_THAT(data, Each(data[root])) << size;
  }
}

TEST_P(CollectivesTest, NobodyPassesABarrierBeforeAllHaveCome) {
  std::atomic<int> arrived = 0;
  ExpectAllOk(Run([&](int rank, Collectives& collectives) {
    absl::SleepFor(absl::Milliseconds(rank));
    ++arrived;
    absl::Status status = collectives.Barrier();
    EXPECT_EQ(arrived, world_size());
    return status;
  }));
}

// Fails one exchange of one rank, for each exchange of an all-reduce, with the
// ring and with the direct algorithm.
TEST_P(CollectivesTest, AFailureEndsAllRanksAndIsNamed) {
  if (world_size() == 1) GTEST_SKIP() << "one rank has nobody to lose";
  for (const int64_t count : {100, 70'001}) {
    for (int exchange = 0; exchange < world_size() - 1; ++exchange) {
      const int faulty = (exchange + 1) % world_size();
      const auto results = Run(
          [&](int rank, Collectives& collectives) {
            std::vector<float> values = ValuesOf<float>(rank, count);
            RETURN_IF_ERROR(collectives.AllReduce(absl::MakeSpan(values)));
            return collectives.Barrier();
          },
          kTimeout, faulty, {exchange, absl::ZeroDuration()});
      for (const absl::Status& result : results) {
        EXPECT_EQ(result.code(), absl::StatusCode::kUnavailable) << result;
        EXPECT_THAT(std::string(result.message()),
                    HasSubstr(absl::StrCat("replica ", faulty, " ")));
      }
    }
  }
}

TEST_P(CollectivesTest, ARankThatHangsIsNamedByAll) {
  if (world_size() == 1) GTEST_SKIP() << "one rank has nobody to wait for";
  if (world_size() > 3 && world_size() < 16) {
    GTEST_SKIP() << "takes 3 s each time: 2, 3 and 16 ranks must do";
  }
  const int faulty = world_size() - 1;
  const auto results = Run(
      [&](int rank, Collectives& collectives) {
        std::vector<float> values = ValuesOf<float>(rank, 70'001);
        return collectives.AllReduce(absl::MakeSpan(values));
      },
      absl::Seconds(1), faulty,
      {/*exchange=*/world_size() - 2, absl::Seconds(3)});
  for (const absl::Status& result : results) {
    EXPECT_EQ(result.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(std::string(result.message()),
                HasSubstr(absl::StrCat("replica ", faulty, " did not come")));
  }
}

TEST_P(CollectivesTest, DifferentSizesAreRefused) {
  if (world_size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto results = Run([&](int rank, Collectives& collectives) {
    std::vector<float> values(100 + rank);
    return collectives.AllReduce(absl::MakeSpan(values));
  });
  for (const absl::Status& result : results) {
    EXPECT_EQ(result.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(result.message()), HasSubstr("which expects"));
  }
}

}  // namespace
}  // namespace paceline
