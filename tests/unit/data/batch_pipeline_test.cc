#include "worker/data/batch_pipeline.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data/allocation_count.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Far longer than anything here takes.
constexpr absl::Duration kLong = absl::Seconds(60);

// Examples of two bytes: example i has features {i, 2·i} and label i mod 10.
class CountingSource : public DataSource {
 public:
  explicit CountingSource(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      features_.push_back(static_cast<std::byte>(i));
      features_.push_back(static_cast<std::byte>(2 * i));
      labels_.push_back(static_cast<float>(i % 10));
    }
  }

  const std::string& name() const override { return name_; }
  int64_t example_count() const override {
    return static_cast<int64_t>(labels_.size());
  }
  const Shape& feature_shape() const override { return feature_shape_; }
  const Shape& label_shape() const override { return label_shape_; }
  absl::Status CheckClassIds(int64_t) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<Example> Read(int64_t index,
                               std::vector<std::byte>&) const override {
    if (index == broken_) return absl::DataLossError("broken");
    return Example{{ElementType::kUint8, &features_[2 * index], 2},
                   {ElementType::kFloat32,
                    reinterpret_cast<const std::byte*>(&labels_[index]), 1}};
  }

  void set_broken(int64_t index) { broken_ = index; }
  void set_label(int64_t index, float label) { labels_[index] = label; }

 private:
  std::string name_ = "counting";
  Shape feature_shape_ = {2};
  Shape label_shape_;
  std::vector<std::byte> features_;
  std::vector<float> labels_;
  int64_t broken_ = -1;
};

v1::Lease MakeLease(uint64_t id, uint64_t begin, uint64_t end,
                    uint32_t epoch = 0, v1::Phase phase = v1::PHASE_TRAIN) {
  v1::Lease lease;
  lease.set_id(id);
  lease.set_phase(phase);
  lease.set_epoch(epoch);
  lease.set_begin(begin);
  lease.set_end(end);
  return lease;
}

// A lease source that gives `leases` and then ends.
BatchPipeline::LeaseSource GiveLeases(std::deque<v1::Lease> leases) {
  return [leases]() mutable -> absl::StatusOr<std::optional<v1::Lease>> {
    if (leases.empty()) return std::nullopt;
    v1::Lease lease = leases.front();
    leases.pop_front();
    return lease;
  };
}

PipelineOptions TrainOptions(const DataSource& source, int64_t batch_size) {
  PipelineOptions options;
  options.phases[v1::PHASE_TRAIN] = {.source = &source,
                                     .order = {.count = source.example_count()},
                                     .step_size = batch_size};
  options.class_count = 10;
  return options;
}

template <typename T>
std::vector<T> Values(const std::byte* data, int64_t count) {
  const T* values = reinterpret_cast<const T*>(data);
  return {values, values + count};
}

// The batches' first values as [lease, begin, count], and all labels.
struct Drained {
  std::vector<std::vector<int64_t>> batches;
  std::vector<float> features;
  std::vector<int32_t> labels;
  absl::Status status;
};

Drained Drain(BatchPipeline& pipeline) {
  Drained drained;
  while (!pipeline.has_ended()) {
    const auto batch = pipeline.Next(kLong);
    if (!batch.ok()) {
      drained.status = batch.status();
      return drained;
    }
    if (*batch == nullptr) continue;
    const PreparedBatch& b = **batch;
    drained.batches.push_back(
        {static_cast<int64_t>(b.lease.id()), b.begin, b.count});
    for (const float value : Values<float>(b.features, 2 * b.count)) {
      drained.features.push_back(value);
    }
    for (const int32_t label : Values<int32_t>(b.labels, b.count)) {
      drained.labels.push_back(label);
    }
    pipeline.Release(*batch);
  }
  return drained;
}

std::unique_ptr<BatchPipeline> MakePipeline(const PipelineOptions& options,
                                            BatchPipeline::LeaseSource leases) {
  auto pipeline = BatchPipeline::Create(options, std::move(leases));
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return *std::move(pipeline);
}

TEST(BatchPipelineTest, CutsLeasesIntoBatches) {
  const CountingSource source(20);
  auto pipeline =
      MakePipeline(TrainOptions(source, 4),
                   GiveLeases({MakeLease(1, 0, 8), MakeLease(2, 8, 16),
                               MakeLease(3, 16, 19)}));
  const Drained drained = Drain(*pipeline);
  EXPECT_TRUE(drained.status.ok()) << drained.status;
  EXPECT_THAT(drained.batches,
              ElementsAre(ElementsAre(1, 0, 4), ElementsAre(1, 4, 4),
                          ElementsAre(2, 8, 4), ElementsAre(2, 12, 4),
                          ElementsAre(3, 16, 3)));
  ASSERT_EQ(drained.labels.size(), 19u);
  for (int i = 0; i < 19; ++i) {
    EXPECT_EQ(drained.labels[i], i % 10);
    EXPECT_EQ(drained.features[2 * i], i);
    EXPECT_EQ(drained.features[2 * i + 1], 2 * i);
  }
}

TEST(BatchPipelineTest, TellsHowFarALeaseIs) {
  const CountingSource source(20);
  auto pipeline =
      MakePipeline(TrainOptions(source, 4), GiveLeases({MakeLease(1, 8, 15)}));
  const PreparedBatch* first = *pipeline->Next(kLong);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->done_of_lease, 4);
  EXPECT_FALSE(first->ends_lease);
  const PreparedBatch* second = *pipeline->Next(kLong);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->done_of_lease, 7);
  EXPECT_TRUE(second->ends_lease);
}

// What several workers see together, however the leases fall to them.
TEST(BatchPipelineTest, WorkersSeeEachExampleOnceAnEpoch) {
  const CountingSource source(250);
  PipelineOptions options = TrainOptions(source, 8);
  options.phases[v1::PHASE_TRAIN].order.shuffle = true;
  std::deque<v1::Lease> leases[3];
  for (uint64_t begin = 0; begin < 250; begin += 24) {
    const uint64_t end = std::min<uint64_t>(begin + 24, 250);
    leases[begin * 7 % 3].push_back(MakeLease(begin + 1, begin, end, 5));
  }
  std::vector<float> seen;
  for (const auto& of_worker : leases) {
    auto pipeline = MakePipeline(options, GiveLeases(of_worker));
    const Drained drained = Drain(*pipeline);
    for (size_t i = 0; i < drained.features.size(); i += 2) {
      seen.push_back(drained.features[i]);
    }
  }
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), 250u);
  for (int i = 0; i < 250; ++i) EXPECT_EQ(seen[i], i);
}

TEST(BatchPipelineTest, ServesPhasesOfOneSource) {
  const CountingSource source(20);
  PipelineOptions options = TrainOptions(source, 4);
  options.phases[v1::PHASE_TRAIN].order.count = 18;
  options.phases[v1::PHASE_VALIDATION] = {
      &source, {.first = 18, .count = 2}, 0.5, /*step_size=*/4};
  auto pipeline = MakePipeline(
      options, GiveLeases({MakeLease(1, 16, 18),
                           MakeLease(2, 0, 2, 0, v1::PHASE_VALIDATION)}));
  EXPECT_THAT(Drain(*pipeline).features,
              ElementsAre(16, 32, 17, 34, 9, 18, 9.5, 19));
}

TEST(BatchPipelineTest, ReplicasShareEachStep) {
  const CountingSource source(20);
  std::vector<std::vector<int>> seen(3);
  for (int rank = 0; rank < 3; ++rank) {
    PipelineOptions options = TrainOptions(source, /*batch_size=*/8);
    options.phases[v1::PHASE_TRAIN].rank = rank;
    options.phases[v1::PHASE_TRAIN].sharers = 3;
    auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 2, 11)}));
    const PreparedBatch* first = *pipeline->Next(kLong);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->step_count, 8);
    EXPECT_FALSE(first->ends_lease);
    for (int i = 0; i < first->count; ++i) {
      seen[rank].push_back(static_cast<int>(first->begin) + i);
    }
    const int64_t of_first = first->count;
    // The last step has one example.
    const PreparedBatch* last = *pipeline->Next(kLong);
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->step_count, 1);
    EXPECT_EQ(last->count, rank == 2 ? 1 : 0);
    EXPECT_EQ(last->done_of_lease, of_first + last->count);
    EXPECT_TRUE(last->ends_lease);
  }
  EXPECT_THAT(seen, ElementsAre(ElementsAre(2, 3), ElementsAre(4, 5, 6),
                                ElementsAre(7, 8, 9)));
}

TEST(BatchPipelineTest, AnEpochHasTheBatchSizesThatItsPhaseNames) {
  const CountingSource source(20);
  for (const int64_t step_size : {2, 7, 8, 20, 50}) {
    for (const int64_t epoch_examples : {0, 34}) {
      for (int rank = 0; rank < 3; ++rank) {
        PipelineOptions options = TrainOptions(source, step_size);
        PhaseData& phase = options.phases[v1::PHASE_TRAIN];
        phase.order.epoch_examples = epoch_examples;
        phase.rank = rank;
        phase.sharers = 3;
        const int end = epoch_examples == 0 ? 20 : 34;
        auto pipeline =
            MakePipeline(options, GiveLeases({MakeLease(1, 0, end)}));
        std::vector<int64_t> sizes;
        for (const auto& batch : Drain(*pipeline).batches) {
          if (sizes.empty() || sizes.back() != batch[2]) {
            sizes.push_back(batch[2]);
          }
        }
        std::vector<int64_t> named = phase.BatchSizes();
        named.erase(std::unique(named.begin(), named.end()), named.end());
        EXPECT_EQ(sizes, named) << step_size << " " << rank;
      }
    }
  }
}

TEST(BatchPipelineTest, MakesDoublesAndDenseLabels) {
  const CountingSource source(4);
  PipelineOptions options = TrainOptions(source, 4);
  options.phases[v1::PHASE_TRAIN].scale = 0.1;
  options.type = DataType::kFloat64;
  options.class_count = 0;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 3)}));
  const PreparedBatch* batch = *pipeline->Next(kLong);
  ASSERT_NE(batch, nullptr);
  EXPECT_THAT(Values<double>(batch->features, 6),
              ElementsAre(0, 0, 0.1, 0.2, 0.2, 0.4));
  EXPECT_THAT(Values<double>(batch->labels, 3), ElementsAre(0, 1, 2));
}

TEST(BatchPipelineTest, AlignsItsBuffers) {
  const CountingSource source(100);
  auto pipeline =
      MakePipeline(TrainOptions(source, 3), GiveLeases({MakeLease(1, 0, 100)}));
  for (int i = 0; i < 8; ++i) {
    const PreparedBatch* batch = *pipeline->Next(kLong);
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(batch->features) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(batch->labels) % 64, 0u);
    pipeline->Release(batch);
  }
}

TEST(BatchPipelineTest, StaysAFewBatchesAhead) {
  const CountingSource source(200);
  std::atomic<int> leases = 0;
  auto pipeline =
      MakePipeline(TrainOptions(source, 2),
                   [&leases]() -> absl::StatusOr<std::optional<v1::Lease>> {
                     const uint64_t begin = 2 * leases.fetch_add(1);
                     return MakeLease(begin + 1, begin, begin + 2);
                   });
  ASSERT_TRUE(pipeline->Next(kLong).ok());
  absl::SleepFor(absl::Milliseconds(50));
  // Four buffers, and the lease whose batch waits for one.
  EXPECT_LE(leases.load(), 5);
}

TEST(BatchPipelineTest, NextGivesUpAfterItsTimeout) {
  const CountingSource source(8);
  std::atomic<bool> stop = false;
  auto pipeline =
      MakePipeline(TrainOptions(source, 4),
                   [&stop]() -> absl::StatusOr<std::optional<v1::Lease>> {
                     while (!stop) absl::SleepFor(absl::Milliseconds(1));
                     return std::nullopt;
                   });
  const absl::Time start = MonotonicNow();
  const auto batch = pipeline->Next(absl::Milliseconds(20));
  EXPECT_GE(MonotonicNow() - start, absl::Milliseconds(20));
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(*batch, nullptr);
  EXPECT_FALSE(pipeline->has_ended());
  stop = true;
  EXPECT_EQ(*pipeline->Next(kLong), nullptr);
  EXPECT_TRUE(pipeline->has_ended());
}

TEST(BatchPipelineTest, CancelEndsAWait) {
  const CountingSource source(8);
  std::atomic<bool> stop = false;
  auto pipeline =
      MakePipeline(TrainOptions(source, 4),
                   [&stop]() -> absl::StatusOr<std::optional<v1::Lease>> {
                     while (!stop) absl::SleepFor(absl::Milliseconds(1));
                     return std::nullopt;
                   });
  std::thread canceller([&pipeline] {
    absl::SleepFor(absl::Milliseconds(20));
    pipeline->Cancel();
  });
  const absl::Time start = MonotonicNow();
  EXPECT_EQ(pipeline->Next(kLong).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_LT(MonotonicNow() - start, kLong / 2);
  EXPECT_FALSE(pipeline->has_ended());
  canceller.join();
  stop = true;
}

TEST(BatchPipelineTest, EndsWhileAllBuffersAreFull) {
  const CountingSource source(100);
  auto pipeline =
      MakePipeline(TrainOptions(source, 1), GiveLeases({MakeLease(1, 0, 100)}));
  ASSERT_TRUE(pipeline->Next(kLong).ok());
  pipeline.reset();
}

TEST(BatchPipelineTest, PassesErrorsOfTheLeaseSourceOn) {
  const CountingSource source(8);
  auto pipeline = MakePipeline(
      TrainOptions(source, 4),
      []() -> absl::StatusOr<std::optional<v1::Lease>> {
        return absl::UnavailableError("chief-0 at 10.0.0.1:2222 is gone");
      });
  const Drained drained = Drain(*pipeline);
  EXPECT_EQ(drained.status,
            absl::UnavailableError("chief-0 at 10.0.0.1:2222 is gone"));
}

TEST(BatchPipelineTest, NamesTheExampleThatCannotBeRead) {
  CountingSource source(8);
  source.set_broken(6);
  auto pipeline =
      MakePipeline(TrainOptions(source, 4), GiveLeases({MakeLease(1, 0, 8)}));
  const Drained drained = Drain(*pipeline);
  EXPECT_EQ(drained.status, absl::DataLossError("counting: example 6: broken"));
}

TEST(BatchPipelineTest, NamesTheExampleWhoseLabelIsNoClassId) {
  CountingSource source(8);
  source.set_label(5, 0.5);
  auto pipeline =
      MakePipeline(TrainOptions(source, 4), GiveLeases({MakeLease(1, 0, 8)}));
  const Drained drained = Drain(*pipeline);
  EXPECT_EQ(drained.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(drained.status.message()),
              AllOf(HasSubstr("counting: example 5"), HasSubstr("0.5")));
}

TEST(BatchPipelineTest, RefusesLeasesThatDoNotFitTheData) {
  const CountingSource source(8);
  for (const v1::Lease& lease :
       {MakeLease(3, 0, 9), MakeLease(3, 4, 4), MakeLease(3, 5, 4),
        MakeLease(3, 0, 8, 0, v1::PHASE_TEST)}) {
    auto pipeline = MakePipeline(TrainOptions(source, 4), GiveLeases({lease}));
    const Drained drained = Drain(*pipeline);
    EXPECT_EQ(drained.status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(drained.status.message()), HasSubstr("lease 3"));
  }
}

TEST(BatchPipelineTest, RefusesABatchBeyondTheLimit) {
  const CountingSource source(8);
  const auto pipeline = BatchPipeline::Create(
      TrainOptions(source, int64_t{1} << 40), GiveLeases({}));
  EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(pipeline.status().message()),
              HasSubstr("1099511627776 examples"));
}

TEST(BatchPipelineTest, AllocatesNothingOnceItIsWarm) {
  if (!kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  const CountingSource source(200);
  PipelineOptions options = TrainOptions(source, 2);
  options.phases[v1::PHASE_TRAIN].order.shuffle = true;
  auto pipeline = MakePipeline(
      options, GiveLeases({MakeLease(1, 0, 200, 0), MakeLease(2, 0, 200, 1)}));
  const auto step = [&pipeline] {
    const PreparedBatch* batch = *pipeline->Next(kLong);
    ASSERT_NE(batch, nullptr);
    pipeline->Release(batch);
  };
  for (int i = 0; i < 10; ++i) step();
  const int64_t before = AllocationCount();
  for (int i = 0; i < 150; ++i) step();
  EXPECT_EQ(AllocationCount() - before, 0);
}

}  // namespace
}  // namespace paceline
