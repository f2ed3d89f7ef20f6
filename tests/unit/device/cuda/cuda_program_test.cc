// What the device enqueues, and when: calls on a fake. tests/conformance has
// what it computes.
#include "worker/device/cuda/cuda_program.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/optimizer/adam.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cuda/cuda_device.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pointwise;

const ModelUnderTest& Model() {
  static const auto& model = *new ModelUnderTest(
      {.layers = *ReadYaml("[Input: {shape: [3]}, Dense: {units: 2}]", "model",
                           limits::kMaxJobBytes)});
  return model;
}

class CudaProgramTest : public ::testing::Test {
 protected:
  CudaProgramTest()
      : device_(cuda::MakeFakeGpu(
            {.log = &calls_,
             .memory_bytes = 1 << 20,
             .fault =
                 [this](const std::string& call) {
                   return call == "allocate" && !has_memory_
                              ? absl::ResourceExhaustedError("full")
                              : absl::OkStatus();
                 }})),
        // Queue 0; the state's, which copies gradients, is queue 1.
        stream_(*device_.CreateStream()),
        state_(*device_.CreateState(Model().Spec(Mode::kTrain, 2))),
        program_(*device_.Compile(Model().Spec(Mode::kTrain, 2), *state_)) {}

  // The one section of a step, whose calls are calls_ then.
  absl::Status Step() {
    const float features[] = {1, 2, 3, 4, 5, 6};
    const float labels[] = {1, 0, 0, 1};
    Batch batch;
    batch.count = 2;
    batch.features = {{DataType::kFloat32, features}};
    batch.labels = {{DataType::kFloat32, labels}};
    EXPECT_TRUE(program_->SetBatch(batch, *stream_).ok());
    calls_.clear();
    return program_->Enqueue(0, *stream_);
  }
  cuda::CallLog CallsOfAStep() {
    EXPECT_TRUE(Step().ok());
    EXPECT_TRUE(program_->section_event(0).HasPassed());
    return calls_;
  }

  absl::Status Compile(int64_t batch_size) {
    return device_.Compile(Model().Spec(Mode::kTrain, batch_size), *state_)
        .status();
  }

  std::vector<float> Gradients() {
    const absl::Span<std::byte> bytes = state_->host_gradients(0);
    const auto* const values = reinterpret_cast<const float*>(bytes.data());
    return {values, values + bytes.size() / sizeof(float)};
  }

  cuda::CallLog calls_;
  bool has_memory_ = true;
  CudaDevice device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<Program> program_;
};

// What products work in is for the stream alone.
TEST_F(CudaProgramTest, TheStateHasAQueueForCopies) {
  EXPECT_EQ(std::count(calls_.begin(), calls_.end(), "create queue"), 1);
  EXPECT_THAT(calls_, Contains("create queue for copies"));
}

TEST_F(CudaProgramTest, CapturesASectionTheSecondTimeAndLaunchesItThen) {
  ASSERT_EQ(program_->sections().size(), 1u);
  const cuda::CallLog first = CallsOfAStep();
  EXPECT_THAT(first, Not(Contains("queue 0: launch")));
  EXPECT_THAT(first, Contains("queue 0: multiply"));
  const std::vector<float> gradients = Gradients();

  const cuda::CallLog second = CallsOfAStep();
  EXPECT_EQ(second[1], "queue 0: begin capture");
  EXPECT_THAT(second, Contains("queue 0: launch"));
  EXPECT_EQ(Gradients(), gradients);

  // The batch comes, and gradients leave, on a queue of their own, which the
  // stream waits for at the ends of the step.
  EXPECT_THAT(
      CallsOfAStep(),
      ElementsAre("queue 0: wait", "queue 0: launch", "queue 0: record",
                  "queue 1: wait", "queue 1: copy 32 bytes", "queue 1: record",
                  "queue 0: record", "queue 0: wait"));
  EXPECT_EQ(Gradients(), gradients);
}

TEST_F(CudaProgramTest, AllocatesNothingInAStep) {
  CallsOfAStep();
  CallsOfAStep();
  EXPECT_THAT(CallsOfAStep(), Not(Contains(HasSubstr("allocate"))));
}

TEST_F(CudaProgramTest, CapturesAgainWhereTheArenaHasMoved) {
  for (int step = 0; step < 3; ++step) CallsOfAStep();
  const std::vector<float> gradients = Gradients();
  const auto larger =
      *device_.Compile(Model().Spec(Mode::kTrain, 4096), *state_);
  EXPECT_EQ(CallsOfAStep()[1], "queue 0: begin capture");
  EXPECT_EQ(Gradients(), gradients);
}

TEST_F(CudaProgramTest, GoesOnWhereALargerOneFoundNoRoom) {
  for (int step = 0; step < 3; ++step) CallsOfAStep();
  const std::vector<float> gradients = Gradients();
  EXPECT_EQ(Compile(1'000'000).code(), absl::StatusCode::kResourceExhausted);
  CallsOfAStep();
  EXPECT_EQ(Gradients(), gradients);
}

TEST_F(CudaProgramTest, SaysThatALargerOneLostItsMemory) {
  CallsOfAStep();
  has_memory_ = false;
  EXPECT_EQ(Compile(4096).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Step().code(), absl::StatusCode::kFailedPrecondition);
  // One that finds room brings it back.
  has_memory_ = true;
  EXPECT_TRUE(Compile(4).ok());
  EXPECT_TRUE(Step().ok());
}

// --- Replicas

// A second replica with the same batch.
class DoublingAllReduce final : public StatisticsAllReduce {
 public:
  void AddUp(absl::Span<double> values) override {
    sizes.push_back(values.size());
    for (double& value : values) value *= 2;
  }
  void MergeMoments(absl::Span<double> moments) override {
    sizes.push_back(moments.size());
    const size_t channels = moments.size() / 2;
    moments[0] *= 2;
    for (double& deviation : moments.subspan(1 + channels)) deviation *= 2;
  }
  absl::Status Take() override { return std::exchange(error, {}); }

  std::vector<size_t> sizes;
  absl::Status error;
};

class StatisticsAllReduceTest : public ::testing::Test {
 protected:
  StatisticsAllReduceTest()
      : model_(
            {.layers = *ReadYaml("[Input: {shape: [2]}, Dense: {units: 3},"
                                 " BatchNormalization: {synchronized: true}]",
                                 "model", limits::kMaxJobBytes)}),
        device_(cuda::MakeFakeGpu({.log = &calls_})),
        stream_(*device_.CreateStream()),
        state_(*device_.CreateState(model_.Spec(Mode::kTrain, 2))) {}

  std::unique_ptr<Program> Compile(StatisticsAllReduce* all_reduce) {
    ProgramSpec spec = model_.Spec(Mode::kTrain, 2);
    spec.statistics_all_reduce = all_reduce;
    return *device_.Compile(spec, *state_);
  }

  // The calls of each section.
  std::vector<cuda::CallLog> RunStep(Program& program) {
    const float features[] = {1, 2, -3, 5};
    const float labels[] = {1, 0, 0, 1, 1, 0};
    EXPECT_TRUE(program
                    .SetBatch({.count = 2,
                               .features = {{DataType::kFloat32, features}},
                               .labels = {{DataType::kFloat32, labels}}},
                              *stream_)
                    .ok());
    std::vector<cuda::CallLog> calls;
    for (size_t i = 0; i < program.sections().size(); ++i) {
      calls_.clear();
      const absl::Status status =
          program.Enqueue(static_cast<int>(i), *stream_);
      EXPECT_TRUE(status.ok()) << status;
      calls.push_back(calls_);
    }
    return calls;
  }

  std::vector<float> Gradients() {
    std::vector<float> all;
    for (size_t b = 0; b < model_.layout().buckets().size(); ++b) {
      const auto bytes = state_->host_gradients(static_cast<int>(b));
      const auto* const values = reinterpret_cast<const float*>(bytes.data());
      all.insert(all.end(), values, values + bytes.size() / sizeof(float));
    }
    return all;
  }

  const ModelUnderTest model_;
  cuda::CallLog calls_;
  CudaDevice device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ModelState> state_;
};

TEST_F(StatisticsAllReduceTest, EqualReplicasAreAsOne) {
  const auto alone = Compile(nullptr);
  RunStep(*alone);
  const std::vector<float> expected = Gradients();
  DoublingAllReduce replicas;
  const auto program = Compile(&replicas);
  for (int step = 0; step < 3; ++step) {
    RunStep(*program);
    EXPECT_THAT(Gradients(), Pointwise(FloatNear(1e-6), expected));
  }
  // N, the means, Σ (x − mean)²; then Σ dy, Σ dy·x̂.
  EXPECT_THAT(replicas.sizes, ElementsAre(7, 6, 7, 6, 7, 6));
}

TEST_F(StatisticsAllReduceTest, SectionsEndBeforeTheSums) {
  DoublingAllReduce replicas;
  const auto program = Compile(&replicas);
  EXPECT_GT(program->sections().size(), Compile(nullptr)->sections().size());
  EXPECT_THAT(program->sections()[0].ready_buckets, IsEmpty());
  RunStep(*program);
  RunStep(*program);
  const std::vector<cuda::CallLog> calls = RunStep(*program);
  // Behind the batch.
  EXPECT_THAT(cuda::CallLog(calls[0].begin(), calls[0].begin() + 2),
              ElementsAre("queue 0: wait", "queue 0: launch"));
  EXPECT_THAT(cuda::CallLog(calls[1].begin(), calls[1].begin() + 4),
              ElementsAre("queue 0: copy 56 bytes", "queue 0: record",
                          "queue 0: copy 56 bytes", "queue 0: launch"));
}

TEST_F(StatisticsAllReduceTest, ErrorsOfTheReplicasEndTheStep) {
  DoublingAllReduce replicas;
  const auto program = Compile(&replicas);
  RunStep(*program);
  replicas.error = absl::UnavailableError("worker-1 does not answer");
  EXPECT_EQ(program->Enqueue(0, *stream_),
            absl::UnavailableError("worker-1 does not answer"));
}

// Where the device updates.
class UpdatingProgramTest : public ::testing::Test {
 protected:
  explicit UpdatingProgramTest(int steps_per_execution = 1)
      : device_(cuda::MakeFakeGpu({.log = &calls_})),
        stream_(*device_.CreateStream()),
        state_(*device_.CreateState(Spec(steps_per_execution))),
        program_(*device_.Compile(Spec(steps_per_execution), *state_)) {}

  ProgramSpec Spec(int steps_per_execution) const {
    ProgramSpec spec = Model().Spec(Mode::kTrain, 2);
    spec.optimizer = &optimizer_;
    spec.steps_per_execution = steps_per_execution;
    return spec;
  }

  // All that a step calls.
  cuda::CallLog CallsOfAStep() {
    const float features[] = {1, 2, 3, 4, 5, 6};
    const float labels[] = {1, 0, 0, 1};
    Batch batch;
    batch.count = 2;
    batch.features = {{DataType::kFloat32, features}};
    batch.labels = {{DataType::kFloat32, labels}};
    calls_.clear();
    EXPECT_TRUE(program_->SetBatch(batch, *stream_).ok());
    EXPECT_TRUE(program_->Enqueue(0, *stream_).ok());
    return calls_;
  }

  const Adam optimizer_;
  cuda::CallLog calls_;
  CudaDevice device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<Program> program_;
};

TEST_F(UpdatingProgramTest, AStepIsOneCopyBesideTheLastAndOneLaunch) {
  ASSERT_EQ(program_->sections().size(), 1u);
  EXPECT_TRUE(program_->sections()[0].ready_buckets.empty());
  // Each of the two buffers has a graph of its own.
  for (int step = 0; step < 3; ++step) CallsOfAStep();
  for (int step = 3; step < 6; ++step) {
    EXPECT_THAT(
        CallsOfAStep(),
        ElementsAre("queue 1: wait", ::testing::StartsWith("queue 1: c"),
                    "queue 1: record", "queue 0: wait", "queue 0: launch",
                    "queue 0: record", "queue 0: record"));
  }
  EXPECT_EQ(state_->device_updates()->iterations(), 6);
}

class KeptStepsTest : public UpdatingProgramTest {
 protected:
  KeptStepsTest() : UpdatingProgramTest(/*steps_per_execution=*/3) {}

  int64_t Launches() const {
    return std::count(calls_.begin(), calls_.end(), "queue 0: launch");
  }
};

TEST_F(KeptStepsTest, AreLaunchedAtOnce) {
  for (int step = 0; step < 9; ++step) CallsOfAStep();
  for (int group = 0; group < 2; ++group) {
    for (int step = 0; step < 2; ++step) {
      EXPECT_THAT(CallsOfAStep(), Each(::testing::StartsWith("queue 1")));
    }
    CallsOfAStep();
    EXPECT_EQ(Launches(), 1);
    EXPECT_THAT(calls_, Not(Contains("queue 0: multiply")));
  }
}

TEST_F(KeptStepsTest, ComeBeforeTheMetricsAreRead) {
  for (int step = 0; step < 5; ++step) CallsOfAStep();
  MetricSums sums = {{0, 0}};
  ASSERT_TRUE(state_->TakeMetrics(*stream_, sums).ok());
  EXPECT_EQ(sums.states[1], 5 * 2);
  EXPECT_EQ(state_->device_updates()->iterations(), 5);
}

TEST_F(KeptStepsTest, ComeBeforeThoseOfAnotherProgramInALargerArena) {
  CallsOfAStep();
  const auto larger = *device_.Compile(
      [&] {
        ProgramSpec spec = Spec(3);
        spec.batch_size = 4096;
        return spec;
      }(),
      *state_);
  const std::vector<float> zeros(4096 * 3);
  Batch batch;
  batch.count = 4096;
  batch.features = {{DataType::kFloat32, zeros.data()}};
  batch.labels = {{DataType::kFloat32, zeros.data()}};
  calls_.clear();
  ASSERT_TRUE(larger->SetBatch(batch, *stream_).ok());
  EXPECT_THAT(calls_, Contains("queue 0: multiply"));
}

}  // namespace
}  // namespace paceline
