// Operations with an all-reduce: replicas compute from their slices what a
// single replica computes from the whole batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "common/base/merge_moments.h"
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
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pointwise;
using Tensors = absl::Span<const op::Tensor>;

constexpr int kReplicas = 3;

// A vector for each rank.
using Parts = std::vector<std::vector<double>>;

// An all-gather between threads.
class Gathering {
 public:
  // Blocks until all replicas have called it. Returns the values of all.
  Parts Gather(int rank, absl::Span<const double> values) {
    parts_[rank] = {values.begin(), values.end()};
    barrier_.arrive_and_wait();
    Parts parts = parts_;
    // Nobody overwrites its part before all have read it.
    barrier_.arrive_and_wait();
    return parts;
  }

 private:
  Parts parts_{kReplicas};
  std::barrier<> barrier_{kReplicas};
};

class ThreadsAllReduce : public StatisticsAllReduce {
 public:
  ThreadsAllReduce(Gathering& gathering, int rank)
      : gathering_(gathering), rank_(rank) {}
  void AddUp(absl::Span<double> values) override {
    const Parts parts = gathering_.Gather(rank_, values);
    absl::c_fill(values, 0);
    for (const std::vector<double>& part : parts) {
      for (size_t i = 0; i < values.size(); ++i) values[i] += part.at(i);
    }
  }
  void MergeMoments(absl::Span<double> moments) override {
    const Parts parts = gathering_.Gather(rank_, moments);
    absl::c_fill(moments, 0);
    const auto channels = static_cast<int64_t>(moments.size() / 2);
    double* const means = moments.data() + 1;
    ColumnMoments merged = {0, means, means + channels};
    for (const std::vector<double>& part : parts) {
      const double* const of_part = part.data() + 1;
      paceline::MergeMoments({part[0], of_part, of_part + channels}, channels,
                             merged);
    }
    moments[0] = merged.rows;
  }
  absl::Status Take() override { return absl::OkStatus(); }

 private:
  Gathering& gathering_;
  const int rank_;
};

// Batch normalization, by an operation or by maps. `over_replicas`: with the
// statistics of all replicas.
OperationCase Normalization(int64_t rows, bool by_maps, bool over_replicas) {
  return {"", {{rows, 2}}, [=](Tensors in) {
            const op::Moments moments = op::BatchMoments(in[0], over_replicas);
            if (by_maps) {
              return (in[0] - moments.mean) / op::Sqrt(moments.variance + 0.1);
            }
            return op::NormalizeByBatch(in[0], moments, over_replicas, {}, 0.1);
          }};
}

// Calls run(rank, its context) on all replicas. Returns the results,
// concatenated by rank.
template <typename Run>
std::vector<double> OnAllReplicas(Run run) {
  Gathering gathering;
  std::vector<std::vector<double>> results(kReplicas);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kReplicas; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadsAllReduce all_reduce(gathering, rank);
      results[rank] = run(
          rank, reference::StepContext{.statistics_all_reduce = &all_reduce});
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

TEST(SharedMomentsTest, SmallVarianceBesideALargeMeanKeepsItsDigits) {
  constexpr double kMean = 1e8;
  const std::vector<std::vector<double>> rows = {
      {kMean - 2, kMean, kMean + 1}, {}, {kMean + 3, kMean + 3}};
  const std::vector<double> variances =
      OnAllReplicas([&](int rank, const reference::StepContext& step) {
        const auto count = static_cast<int64_t>(rows[rank].size());
        const OperationCase variance = {
            "", {{count, 1}}, [](Tensors in) {
              return op::BatchMoments(in[0], /*over_replicas=*/true).variance;
            }};
        return ValuesOf(
            Output(variance, DataType::kFloat64, {rows[rank]}, step));
      });
  // The variance of −2, 0, 1, 3 and 3, whose mean is 1.
  EXPECT_THAT(variances, Each(DoubleNear(3.6, 1e-7)));
  EXPECT_THAT(variances, Each(variances[0]));
}

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
