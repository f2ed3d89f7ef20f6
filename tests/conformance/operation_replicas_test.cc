// Operations that meet other replicas: what several replicas compute of their
// slices is what one computes of the whole batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

#include "common/operations/batch_moments.h"
#include "common/operations/binary_map.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/map.h"
#include "common/operations/sum_over_replicas.h"
#include "tests/conformance/operation_fixture.h"
#include "worker/device/device.h"

namespace paceline {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;
using Tensors = absl::Span<const op::Tensor>;

constexpr int kReplicas = 3;

// The sums of threads.
class Meeting {
 public:
  // Replaces values by their sums, once all replicas have called.
  void AddUp(int rank, absl::Span<double> values) {
    parts_[rank] = {values.begin(), values.end()};
    barrier_.arrive_and_wait();
    std::vector<double> sums(values.size());
    for (const std::vector<double>& part : parts_) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += part.at(i);
    }
    // Nobody overwrites its part before all have read it.
    barrier_.arrive_and_wait();
    std::copy(sums.begin(), sums.end(), values.begin());
  }

 private:
  std::vector<std::vector<double>> parts_{kReplicas};
  std::barrier<> barrier_{kReplicas};
};

class ThreadsSum : public ReplicaSum {
 public:
  ThreadsSum(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  void AddUp(absl::Span<double> values) override {
    meeting_.AddUp(rank_, values);
  }
  absl::Status Take() override { return absl::OkStatus(); }

 private:
  Meeting& meeting_;
  const int rank_;
};

// Normalized by the statistics of all replicas, if so: by an operation or by
// maps.
OperationCase Normalization(int64_t rows, bool by_maps, bool over_replicas) {
  return {"", {{rows, 2}}, [=](Tensors in) {
            const op::Moments moments = op::BatchMoments(in[0], over_replicas);
            if (by_maps) {
              return (in[0] - moments.mean) / op::Sqrt(moments.variance + 0.1);
            }
            return op::NormalizeByBatch(in[0], moments, over_replicas, {}, 0.1);
          }};
}

// What run(rank, its sum) gives on each replica, one behind the other.
template <typename Run>
std::vector<double> OnAllReplicas(Run run) {
  Meeting meeting;
  std::vector<std::vector<double>> results(kReplicas);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kReplicas; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadsSum sum(meeting, rank);
      results[rank] = run(rank, reference::StepContext{.replica_sum = &sum});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const std::vector<double>& result : results) {
    all.insert(all.end(), result.begin(), result.end());
  }
  return all;
}

class SharedStatisticsTest : public ::testing::TestWithParam<bool> {};

TEST_P(SharedStatisticsTest, AreThoseOfTheWholeBatch) {
  constexpr int64_t kRows[kReplicas] = {3, 0, 2};
  const auto normalization = [](int64_t rows, bool over_replicas) {
    return Normalization(rows, /*by_maps=*/GetParam(), over_replicas);
  };
  const OperationCase whole = normalization(5, false);
  const std::vector<double> input = {1, -2, 4, 0.5, 3, 3, -1, 2, 0, 7};
  const std::vector<double> weights = {1, 2, -1, 0.5, 3, 1, 2, -2, 1, 0};
  // The rows of a replica.
  const auto slice = [&](const std::vector<double>& of, int rank) {
    int64_t first = 0;
    for (int r = 0; r < rank; ++r) first += kRows[r];
    return std::vector<double>(of.begin() + 2 * first,
                               of.begin() + 2 * (first + kRows[rank]));
  };
  EXPECT_THAT(
      OnAllReplicas([&](int rank, const reference::StepContext& step) {
        return ValuesOf(Output(normalization(kRows[rank], true),
                               DataType::kFloat64, {slice(input, rank)}, step));
      }),
      Pointwise(DoubleNear(1e-12),
                ValuesOf(Output(whole, DataType::kFloat64, {input}))));
  EXPECT_THAT(
      OnAllReplicas([&](int rank, const reference::StepContext& step) {
        return GradientsOf(normalization(kRows[rank], true), DataType::kFloat64,
                           {slice(input, rank)}, slice(weights, rank), step)[0];
      }),
      Pointwise(DoubleNear(1e-12),
                GradientsOf(whole, DataType::kFloat64, {input}, weights)[0]));
}

INSTANTIATE_TEST_SUITE_P(, SharedStatisticsTest, ::testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "OfMaps" : "OfAnOperation";
                         });

// Each replica's loss is its rank times the sum of the squares of all inputs.
TEST(OperationReplicasTest, GradientOfASumIsASum) {
  const OperationCase sum = {
      "", {{1}}, [](Tensors in) { return op::SumOverReplicas(in[0] * in[0]); }};
  const auto input_of = [](int rank) {
    return std::vector<double>{rank + 1.0};
  };
  EXPECT_THAT(OnAllReplicas([&](int rank, const reference::StepContext& step) {
                return ValuesOf(
                    Output(sum, DataType::kFloat64, {input_of(rank)}, step));
              }),
              ElementsAre(14, 14, 14));
  EXPECT_THAT(OnAllReplicas([&](int rank, const reference::StepContext& step) {
                return GradientsOf(sum, DataType::kFloat64, {input_of(rank)},
                                   {static_cast<double>(rank)}, step)[0];
              }),
              // (0 + 1 + 2) · 2 · input.
              ElementsAre(6, 12, 18));
}

}  // namespace
}  // namespace paceline
