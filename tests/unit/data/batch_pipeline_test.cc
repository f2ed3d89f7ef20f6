#include "worker/data/batch_pipeline.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data/allocation_count.h"
#include "tests/unit/data/pipeline_testing.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Example i has the features left = {i} and right = {10·i, 10·i + 1}, and the
// labels class = i and size = {i / 2}.
class PairSource : public DataSource {
 public:
  const std::string& name() const override { return name_; }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return 10; }
  absl::Status CheckClassIds(size_t, const ClassIds&) const override {
    return absl::OkStatus();
  }
  std::string LocationOf(int64_t index) const override {
    return absl::StrCat("pairs.csv:", index + 2);
  }
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return std::make_unique<Reader>();
  }

 private:
  class Reader : public ExampleReader {
   public:
    absl::StatusOr<const Example*> Read(int64_t index) override {
      left_ = static_cast<uint8_t>(index);
      right_ = {static_cast<int16_t>(10 * index),
                static_cast<int16_t>(10 * index + 1)};
      size_ = static_cast<float>(index) / 2;
      return &example_;
    }

   private:
    template <typename T>
    static Elements Of(ElementType type, const T& values, int64_t count) {
      return {type, reinterpret_cast<const std::byte*>(&values), count};
    }

    uint8_t left_ = 0;
    std::array<int16_t, 2> right_ = {};
    float size_ = 0;
    const Example example_ = {
        {Of(ElementType::kUint8, left_, 1), Of(ElementType::kInt16, right_, 2)},
        {Of(ElementType::kUint8, left_, 1),
         Of(ElementType::kFloat32, size_, 1)},
        {Of(ElementType::kFloat32, size_, 1)}};
  };

  const std::string name_ = "pairs";
  const ExampleSpec spec_ = {
      {{"left", "pairs: left", ElementType::kUint8, {1}},
       {"right", "pairs: right", ElementType::kInt16, {2}}},
      {{"class", "pairs: class", ElementType::kUint8, {}},
       {"size", "pairs: size", ElementType::kFloat32, {1}}},
      {{"size", "pairs: weight", ElementType::kFloat32, {}}}};
};

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

// All of these are ready before the first is returned.
TEST(BatchPipelineTest, MakesAsManyBatchesAheadAsItIsTold) {
  for (const int prefetch : {1, 2, 9}) {
    SCOPED_TRACE(prefetch);
    const CountingSource source(80);
    PipelineOptions options = TrainOptions(source, 4);
    options.phases[v1::PHASE_TRAIN].prefetch = prefetch;
    auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 80)}));
    std::vector<const PreparedBatch*> held;
    for (int i = 0; i <= prefetch; ++i) {
      held.push_back(*pipeline->Next(kLong));
      ASSERT_NE(held.back(), nullptr);
    }
    EXPECT_EQ(*pipeline->Next(absl::Milliseconds(20)), nullptr);
    for (int i = 0; i <= prefetch; ++i) EXPECT_EQ(held[i]->begin, 4 * i);
    pipeline->Release(held.front());
    const PreparedBatch* next = *pipeline->Next(kLong);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->begin, 4 * (prefetch + 1));
  }
}

TEST(BatchPipelineTest, EachPhaseHasItsOwnBatchesAhead) {
  const CountingSource source(80);
  PipelineOptions options = TrainOptions(source, 4);
  options.phases[v1::PHASE_TRAIN].prefetch = 1;
  options.phases[v1::PHASE_VALIDATION] = options.phases[v1::PHASE_TRAIN];
  options.phases[v1::PHASE_VALIDATION].prefetch = 7;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 80)}));
  ASSERT_NE(*pipeline->Next(kLong), nullptr);
  ASSERT_NE(*pipeline->Next(kLong), nullptr);
  EXPECT_EQ(*pipeline->Next(absl::Milliseconds(20)), nullptr);
}

TEST(BatchPipelineTest, RefusesBatchesThatNoMemoryHolds) {
  const CountingSource source(80);
  PipelineOptions options = TrainOptions(source, 1 << 20);
  options.phases[v1::PHASE_TRAIN].prefetch = std::numeric_limits<int>::max();
  EXPECT_EQ(BatchPipeline::Create(options, GiveLeases({})).status().code(),
            absl::StatusCode::kInvalidArgument);
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
    options.phases[v1::PHASE_TRAIN].replica_count = 3;
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
        phase.replica_count = 3;
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
  options.model.outputs[0].classes.count = 0;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 3)}));
  const PreparedBatch* batch = *pipeline->Next(kLong);
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->features[0].type, DataType::kFloat64);
  EXPECT_EQ(batch->labels[0].type, DataType::kFloat64);
  EXPECT_THAT(Values<double>(batch->features[0].data, 6),
              ElementsAre(0, 0, 0.1, 0.2, 0.2, 0.4));
  EXPECT_THAT(Values<double>(batch->labels[0].data, 3), ElementsAre(0, 1, 2));
}

// In the order of the model's inputs and outputs, not in that of the source.
PipelineOptions PairOptions(const PairSource& source) {
  PipelineOptions options;
  options.phases[v1::PHASE_TRAIN] = {
      .source = &source, .order = {.count = 10}, .scale = 0.5, .step_size = 3};
  options.model = {{{"right", {2}}, {"left", {1}}},
                   {{"size", {1}}, {"class", {}, {.count = 10}}}};
  return options;
}

TEST(BatchPipelineTest, MakesAnArrayForEachInputAndOutput) {
  const PairSource source;
  auto pipeline =
      MakePipeline(PairOptions(source), GiveLeases({MakeLease(1, 4, 7)}));
  const PreparedBatch* batch = *pipeline->Next(kLong);
  ASSERT_NE(batch, nullptr);
  ASSERT_EQ(batch->features.size(), 2);
  EXPECT_THAT(Values<float>(batch->features[0].data, 6),
              ElementsAre(20, 20.5, 25, 25.5, 30, 30.5));
  EXPECT_THAT(Values<float>(batch->features[1].data, 3),
              ElementsAre(2, 2.5, 3));
  ASSERT_EQ(batch->labels.size(), 2);
  EXPECT_EQ(batch->labels[0].type, DataType::kFloat32);
  EXPECT_THAT(Values<float>(batch->labels[0].data, 3), ElementsAre(2, 2.5, 3));
  EXPECT_EQ(batch->labels[1].type, DataType::kInt32);
  EXPECT_THAT(Values<int32_t>(batch->labels[1].data, 3), ElementsAre(4, 5, 6));
}

// Of the outputs, the second has no weights in the data.
TEST(BatchPipelineTest, GivesWeightsOfExamples) {
  const PairSource source;
  PipelineOptions options = PairOptions(source);
  options.model.has_sample_weights = true;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 4, 7)}));
  const PreparedBatch* batch = *pipeline->Next(kLong);
  ASSERT_NE(batch, nullptr);
  ASSERT_EQ(batch->weights.size(), 2);
  EXPECT_EQ(batch->weights[1].type, DataType::kFloat32);
  EXPECT_THAT(Values<float>(batch->weights[0].data, 3), ElementsAre(2, 2.5, 3));
  EXPECT_THAT(Values<float>(batch->weights[1].data, 3), ElementsAre(1, 1, 1));
}

TEST(BatchPipelineTest, TakesLabelsThatAreIgnored) {
  const PairSource source;
  PipelineOptions options = PairOptions(source);
  options.model.outputs[1].classes = {.count = 3, .ignored = 7};
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 7, 8)}));
  const PreparedBatch* batch = *pipeline->Next(kLong);
  ASSERT_NE(batch, nullptr);
  EXPECT_THAT(Values<int32_t>(batch->labels[1].data, 1), ElementsAre(7));
  pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 8, 9)}));
  EXPECT_EQ(
      pipeline->Next(kLong).status(),
      absl::InvalidArgumentError("pairs: example 8, at pairs.csv:10: pairs: "
                                 "class: label is 8, expected a class "
                                 "id from 0 to 2, or 7, which is ignored"));
}

TEST(BatchPipelineTest, NamesTheLabelsThatAreNoClassIds) {
  const PairSource source;
  PipelineOptions options = PairOptions(source);
  options.model.outputs[1].classes.count = 5;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 3, 6)}));
  EXPECT_EQ(
      pipeline->Next(kLong).status(),
      absl::InvalidArgumentError("pairs: example 5, at pairs.csv:7: pairs: "
                                 "class: label is 5, expected a class "
                                 "id from 0 to 4"));
}

TEST(BatchPipelineTest, RefusesASourceThatDoesNotFitTheModel) {
  const CountingSource source(8);
  const PairSource pairs;
  PipelineOptions options = TrainOptions(source, 4);
  options.phases[v1::PHASE_TEST] = {
      .source = &pairs, .order = {.count = 10}, .step_size = 4};
  const absl::Status status =
      BatchPipeline::Create(options, GiveLeases({})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("pairs: the features"));
}

TEST(BatchPipelineTest, AlignsItsBuffers) {
  const PairSource source;
  auto pipeline =
      MakePipeline(PairOptions(source), GiveLeases({MakeLease(1, 0, 10)}));
  for (int i = 0; i < 4; ++i) {
    const PreparedBatch* batch = *pipeline->Next(kLong);
    ASSERT_NE(batch, nullptr);
    for (const auto* arrays : {&batch->features, &batch->labels}) {
      for (const PreparedArray& array : *arrays) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data) % 64, 0u);
      }
    }
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
  source.Break(6);
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
