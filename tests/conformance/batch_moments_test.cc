// The moments of a batch, of one replica or of several, on all devices.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/devices.h"
#include "tests/conformance/model_under_test.h"
#include "worker/collective/memory_transport.h"
#include "worker/strategy/transport_statistics_all_reduce.h"

namespace paceline {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kChannels = 5;

// A mean and a variance of each channel.
using Moments = std::vector<std::vector<double>>;

Moments MomentsOf(const std::vector<double>& values) {
  const auto rows = static_cast<double>(values.size() / kChannels);
  Moments moments(2, std::vector<double>(kChannels));
  for (size_t i = 0; i < values.size(); ++i) {
    moments[0][i % kChannels] += values[i] / rows;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double difference = values[i] - moments[0][i % kChannels];
    moments[1][i % kChannels] += difference * difference / rows;
  }
  return moments;
}

// Float32 holds them exactly.
std::vector<double> ValuesAround(double mean, double deviation, int64_t rows) {
  std::vector<double> values(rows * kChannels);
  for (size_t i = 0; i < values.size(); ++i) {
    const double standard = static_cast<double>(i * 7919 % 2003) / 578.0 - 1.73;
    values[i] = static_cast<float>(mean + deviation * standard);
  }
  return values;
}

class BatchMomentsTest : public ::testing::TestWithParam<DeviceUnderTest> {
 protected:
  BatchMomentsTest()
      : model_({.layers = *ReadYaml("[Input: {shape: [5]}, BatchNormalization:"
                                    " {synchronized: true, momentum: 0}]",
                                    "model", limits::kMaxJobBytes)}) {}

  // Trains a step on these rows of a replica. Returns the deltas of the moving
  // statistics. They are the moments of the batch, since the momentum and the
  // moving statistics are 0. Empty if there are no rows.
  Moments Train(const std::vector<double>& rows,
                TransportStatisticsAllReduce& all_reduce) {
    if (rows.empty()) {
      EXPECT_TRUE(all_reduce.AddNothing().ok());
      return {};
    }
    const std::unique_ptr<Device> device = GetParam().make();
    ModelOnDevice on_device(model_, *device, &all_reduce);
    on_device.SetVariables({4, std::vector<double>(kChannels)});
    Examples examples =
        model_.SomeExamples(static_cast<int64_t>(rows.size()) / kChannels);
    examples.features = {rows};
    const auto gradients = on_device.Train(examples).gradients;
    EXPECT_TRUE(all_reduce.Take().ok());
    // The deltas follow the gradients of gamma and beta.
    return {gradients[2], gradients[3]};
  }

  // Trains replicas, each on its number of `rows`. Returns the results by
  // replica.
  std::vector<Moments> TrainReplicas(const std::vector<double>& values,
                                     const std::vector<int64_t>& rows) {
    const auto count = static_cast<int>(rows.size());
    MemoryGroup group(count, absl::Seconds(60));
    std::vector<Moments> moments(count);
    std::vector<std::thread> threads;
    auto begin = values.begin();
    for (int rank = 0; rank < count; ++rank) {
      const auto end = begin + rows[rank] * kChannels;
      threads.emplace_back([&, rank, slice = std::vector(begin, end)] {
        TransportStatisticsAllReduce all_reduce({kChannels});
        all_reduce.Join(group.MakeTransport(rank), [](const std::string&) {});
        moments[rank] = Train(slice, all_reduce);
      });
      begin = end;
    }
    for (std::thread& thread : threads) thread.join();
    return moments;
  }

  const ModelUnderTest model_;
};

TEST_P(BatchMomentsTest, SmallVarianceBesideALargeMeanKeepsItsDigits) {
  constexpr int64_t kRows = 432;
  for (const auto& [mean, deviation] :
       {std::pair(0.0, 1.0), std::pair(1e4, 1e-2), std::pair(1e7, 1.0)}) {
    const std::vector<double> values = ValuesAround(mean, deviation, kRows);
    const Moments expected = MomentsOf(values);
    for (const std::vector<int64_t>& rows :
         {std::vector<int64_t>{kRows}, {300, 0, 1, 131}, {0, 0, kRows}}) {
      const std::vector<Moments> moments = TrainReplicas(values, rows);
      for (size_t rank = 0; rank < rows.size(); ++rank) {
        SCOPED_TRACE(testing::Message() << mean << " " << rank);
        if (rows[rank] == 0) {
          EXPECT_THAT(moments[rank], IsEmpty());
          continue;
        }
        for (int64_t c = 0; c < kChannels; ++c) {
          EXPECT_NEAR(moments[rank][0][c], expected[0][c],
                      1e-7 * (mean + deviation));
          EXPECT_NEAR(moments[rank][1][c], expected[1][c],
                      2e-6 * expected[1][c]);
        }
        EXPECT_EQ(moments[rank], moments.at(rows.size() - 1))
            << "replicas differ";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BatchMomentsTest,
                         ::testing::ValuesIn(DevicesUnderTest()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace paceline
