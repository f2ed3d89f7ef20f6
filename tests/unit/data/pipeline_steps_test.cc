// Steps and readers of the pipeline.
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/config/keras_object.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data/allocation_count.h"
#include "tests/unit/data/pipeline_testing.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Counts slowly. Tells how many readers were made.
class SlowSource : public CountingSource {
 public:
  using CountingSource::CountingSource;

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    ++readers_;
    auto reader = CountingSource::MakeReader();
    if (!reader.ok()) return reader.status();
    return std::make_unique<Reader>(*std::move(reader));
  }

  int readers() const { return readers_; }

 private:
  class Reader : public ExampleReader {
   public:
    explicit Reader(std::unique_ptr<ExampleReader> fast)
        : fast_(std::move(fast)) {}

    absl::StatusOr<const Example*> Read(int64_t index) override {
      absl::SleepFor(absl::Microseconds(500));
      return fast_->Read(index);
    }

   private:
    const std::unique_ptr<ExampleReader> fast_;
  };

  mutable std::atomic<int> readers_ = 0;
};

KerasObject Step(const std::string& name, const Value& config) {
  return {.class_name = name, .config = config};
}

TEST(PipelineStepsTest, AppliesStepsBeforeTheScale) {
  const CountingSource source(4);
  PipelineOptions options = TrainOptions(source, 4);
  PhaseData& phase = options.phases[v1::PHASE_TRAIN];
  phase.scale = 0.5;
  phase.steps.steps = {
      Step("Rescaling", Value::Map{{"scale", 2.0}, {"offset", 6.0}}),
      Step("to_categorical", Value::Map{{"num_classes", 3}})};
  options.model.outputs[0] = {"digit", {3}};
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 1, 3)}));
  const auto batch = pipeline->Next(kLong);
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_THAT(Values<float>((*batch)->features[0].data, 4),
              ElementsAre(4, 5, 5, 7));
  EXPECT_THAT(Values<float>((*batch)->labels[0].data, 6),
              ElementsAre(0, 1, 0, 0, 0, 1));
}

TEST(PipelineStepsTest, RefusesStepsWhoseResultsDoNotFitTheModel) {
  const CountingSource source(4);
  PipelineOptions options = TrainOptions(source, 4);
  PhaseData& phase = options.phases[v1::PHASE_TRAIN];
  phase.steps.steps = {Step("to_categorical", Value::Map{{"num_classes", 3}})};
  EXPECT_THAT(
      std::string(
          BatchPipeline::Create(options, GiveLeases({})).status().message()),
      HasSubstr("labels of shape (3,), expected a class id"));
  phase.steps.steps = {Step("RandomFlip", Value::Map{})};
  EXPECT_THAT(
      std::string(
          BatchPipeline::Create(options, GiveLeases({})).status().message()),
      AllOf(HasSubstr("steps[0]: RandomFlip"), HasSubstr("(2,)")));
}

// Whoever reads an example, and whenever.
TEST(PipelineStepsTest, DrawsByThePassAndTheExample) {
  const CountingSource source(6, /*shape=*/{2, 1});
  PipelineOptions options = TrainOptions(source, 4);
  PhaseData& phase = options.phases[v1::PHASE_TRAIN];
  phase.order.epoch_examples = 12;
  phase.steps.seed = 3;
  phase.steps.steps = {
      Step("Rescaling", Value::Map{{"scale", 0.0}}),
      Step("RandomBrightness",
           Value::Map{{"factor", 0.5}, {"value_range", Value::List{-1, 1}}})};
  const auto drain = [&](std::deque<v1::Lease> leases) {
    return Drain(*MakePipeline(options, GiveLeases(std::move(leases))));
  };
  const Drained whole = drain({MakeLease(1, 0, 12, 0), MakeLease(2, 0, 6, 1)});
  EXPECT_EQ(whole.status.code(), absl::StatusCode::kOk) << whole.status;
  const Drained later = drain({MakeLease(2, 0, 6, 1)});
  const std::vector<float> last(whole.features.begin() + 24,
                                whole.features.end());
  EXPECT_EQ(later.features, last) << "as after a resume";
  const std::vector<float> first(whole.features.begin(),
                                 whole.features.begin() + 12);
  const std::vector<float> second(whole.features.begin() + 12,
                                  whole.features.begin() + 24);
  EXPECT_NE(first, second) << "another pass of the same epoch";
}

// Of replicas that each take all examples, in the same order here.
TEST(PipelineStepsTest, DrawsOtherNumbersInEachReplicasPass) {
  const CountingSource source(6, /*shape=*/{2, 1});
  std::vector<float> drawn[2];
  for (const int rank : {0, 1}) {
    PipelineOptions options = TrainOptions(source, 4);
    PhaseData& phase = options.phases[v1::PHASE_TRAIN];
    phase.order.sharding = Sharding::kOwnPasses;
    phase.order.replicas = phase.replica_count = phase.order.epoch_passes = 2;
    phase.order.step_size = 4;
    phase.rank = rank;
    phase.steps.seed = 3;
    phase.steps.steps = {Step(
        "RandomBrightness",
        Value::Map{{"factor", 0.5}, {"value_range", Value::List{-99, 99}}})};
    const Drained drained =
        Drain(*MakePipeline(options, GiveLeases({MakeLease(1, 0, 12)})));
    EXPECT_THAT(drained.labels, ElementsAre(0, 1, 2, 3, 4, 5));
    drawn[rank] = drained.features;
  }
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST(PipelineStepsTest, MakesTheSameBatchesWithSeveralReaders) {
  Drained drained[2];
  for (const int readers : {1, 4}) {
    const SlowSource source(240);
    PipelineOptions options = TrainOptions(source, 24);
    options.phases[v1::PHASE_TRAIN].order.shuffle = true;
    options.readers = readers;
    auto pipeline = MakePipeline(
        options, GiveLeases({MakeLease(1, 0, 240), MakeLease(2, 0, 240, 1)}));
    drained[readers == 1 ? 0 : 1] = Drain(*pipeline);
    EXPECT_EQ(source.readers(), readers);
  }
  EXPECT_EQ(drained[0].batches, drained[1].batches);
  EXPECT_EQ(drained[0].features, drained[1].features);
  EXPECT_EQ(drained[0].labels, drained[1].labels);
}

// The next example of the phase, not of the source.
TEST(PipelineStepsTest, AnotherExampleStandsInForABrokenOne) {
  CountingSource source(20);
  source.Break(9);
  PipelineOptions options = TrainOptions(source, 4);
  PhaseData& phase = options.phases[v1::PHASE_TRAIN];
  phase.order.first = 2;
  phase.order.count = 8;
  const auto drain = [&] {
    return Drain(*MakePipeline(options, GiveLeases({MakeLease(1, 0, 8)})));
  };
  EXPECT_THAT(std::string(drain().status.message()),
              HasSubstr("counting: example 9: broken"));
  phase.skips_errors = true;
  const Drained drained = drain();
  EXPECT_TRUE(drained.status.ok()) << drained.status;
  EXPECT_THAT(drained.labels, ElementsAre(2, 3, 4, 5, 6, 7, 8, 2));
  EXPECT_THAT(drained.skipped, ElementsAre(0, 1));
}

// Two in a row have the same one in their place, each counts once.
TEST(PipelineStepsTest, CountsTheSkippedExamplesOfALease) {
  CountingSource source(12);
  for (const int64_t index : {1, 2, 7}) source.Break(index);
  PipelineOptions options = TrainOptions(source, 2);
  options.phases[v1::PHASE_TRAIN].skips_errors = true;
  const auto pipeline = MakePipeline(
      options, GiveLeases({MakeLease(1, 0, 6), MakeLease(2, 6, 12)}));
  const Drained drained = Drain(*pipeline);
  EXPECT_TRUE(drained.status.ok()) << drained.status;
  EXPECT_THAT(drained.labels, ElementsAre(0, 3, 3, 3, 4, 5, 6, 8, 8, 9, 0, 1));
  EXPECT_THAT(drained.skipped, ElementsAre(1, 2, 2, 1, 1, 1));
  EXPECT_EQ(pipeline->skipped_examples(), 3);
}

TEST(PipelineStepsTest, EndsIfNoExampleCanBeRead) {
  CountingSource source(20);
  source.Break(9);
  PipelineOptions options = TrainOptions(source, 1);
  PhaseData& phase = options.phases[v1::PHASE_TRAIN];
  phase.order.first = 9;
  phase.order.count = 1;
  phase.skips_errors = true;
  const Drained drained =
      Drain(*MakePipeline(options, GiveLeases({MakeLease(1, 0, 1)})));
  EXPECT_THAT(
      std::string(drained.status.message()),
      HasSubstr("1 examples in a row cannot be read, the last: broken"));
}

TEST(PipelineStepsTest, ReadsAStreamWithOneReader) {
  const SlowSource source(100);
  PipelineOptions options = TrainOptions(source, 10);
  options.phases[v1::PHASE_TRAIN].is_stream = true;
  options.readers = 4;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 100)}));
  EXPECT_EQ(Drain(*pipeline).labels.size(), 100u);
  EXPECT_EQ(source.readers(), 1);
}

TEST(PipelineStepsTest, NamesTheFirstOfSeveralBrokenExamples) {
  SlowSource source(240);
  source.Break(229);
  source.set_label(233, 0.5);
  PipelineOptions options = TrainOptions(source, 24);
  options.readers = 4;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 240)}));
  EXPECT_EQ(Drain(*pipeline).status,
            absl::DataLossError("counting: example 229: broken"));
}

TEST(PipelineStepsTest, CancelEndsReadersAtTheirNextExample) {
  const SlowSource source(100000);
  PipelineOptions options = TrainOptions(source, 100000);
  options.readers = 4;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 100000)}));
  ASSERT_TRUE(pipeline->Next(absl::Milliseconds(20)).ok());
  const absl::Time start = MonotonicNow();
  pipeline.reset();
  EXPECT_LT(MonotonicNow() - start, absl::Seconds(10)) << "50 s of reading";
}

TEST(PipelineStepsTest, AllocatesNothingOnceItsReadersAreWarm) {
  if (!kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  const SlowSource source(200);
  PipelineOptions options = TrainOptions(source, 20);
  PhaseData& phase = options.phases[v1::PHASE_TRAIN];
  phase.order.shuffle = true;
  phase.order.epoch_examples = 4000;
  phase.steps.steps = {Step("Rescaling", Value::Map{{"scale", 2.0}})};
  options.readers = 3;
  auto pipeline = MakePipeline(options, GiveLeases({MakeLease(1, 0, 4000)}));
  const auto step = [&pipeline] {
    const PreparedBatch* batch = *pipeline->Next(kLong);
    ASSERT_NE(batch, nullptr);
    pipeline->Release(batch);
  };
  for (int i = 0; i < 40; ++i) step();
  EXPECT_EQ(source.readers(), 3);
  const int64_t before = AllocationCount();
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(AllocationCount() - before, 0);
}

}  // namespace
}  // namespace paceline
