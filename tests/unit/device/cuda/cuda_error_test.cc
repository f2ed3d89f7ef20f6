// What the CUDA device says of what fails: on a fake GPU.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/cuda/out_of_memory.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Layer "wide" takes the most memory, by far.
const ModelUnderTest& FailingModel() {
  static const auto& model = *new ModelUnderTest(
      {.layers = *ReadYaml(
           "[Input: {shape: [8, 8, 1]},"
           " Conv2D: {filters: 2, kernel_size: 3, name: narrow},"
           " Conv2D: {filters: 64, kernel_size: 3, activation: tanh,"
           " name: wide}, Flatten: {}, Dense: {units: 2, name: last}]",
           "model", limits::kMaxJobBytes)});
  return model;
}

absl::StatusOr<std::unique_ptr<Program>> Compile(CudaDevice& device,
                                                 ModelState& state, Mode mode,
                                                 int64_t batch_size) {
  return device.Compile(FailingModel().Spec(mode, batch_size), state);
}

// --- Memory

class LargeBatchTest : public ::testing::TestWithParam<Mode> {
 protected:
  static constexpr int64_t kMemory = 64 << 20;

  LargeBatchTest()
      : device_(cuda::MakeFakeGpu({.log = &calls_, .memory_bytes = kMemory})),
        state_(*device_.CreateState(FailingModel().Spec(GetParam(), 1))) {}

  absl::Status TryBatch(int64_t size) {
    return Compile(device_, *state_, GetParam(), size).status();
  }

  cuda::CallLog calls_;
  CudaDevice device_;
  std::unique_ptr<ModelState> state_;
};

TEST_P(LargeBatchTest, NamesTheLargestLayerAndTheLargestBatchThatFits) {
  const absl::Status status = TryBatch(20'000);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  const std::string message(status.message());
  EXPECT_THAT(
      message,
      MatchesRegex("cuda:fake: out of memory: [0-9.e+]+ MiB asked for the "
                   "tensors of a program, [0-9.]+ MiB free of 64 MiB; of a "
                   "batch of 20000, layer wide takes the most at a time, "
                   "[0-9.e+]+ MiB; the largest batch that fits is [0-9]+"));
  const int64_t largest = std::stoll(message.substr(message.rfind(' ')));
  EXPECT_GT(largest, 100);
  EXPECT_TRUE(TryBatch(largest).ok());
  // No more than a few blocks are rounded up.
  EXPECT_EQ(TryBatch(largest + largest / 3).code(),
            absl::StatusCode::kResourceExhausted);
}

// `autotune` would measure each convolution of each batch that is tried.
TEST_P(LargeBatchTest, IsSoughtByEstimates) {
  ASSERT_TRUE(TryBatch(10).ok());
  const auto plans = std::count(calls_.begin(), calls_.end(), "plan");
  calls_.clear();
  EXPECT_EQ(TryBatch(20'000).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::count(calls_.begin(), calls_.end(), "plan"), plans);
  EXPECT_GT(std::count(calls_.begin(), calls_.end(), "estimate"), 10 * plans);
}

INSTANTIATE_TEST_SUITE_P(, LargeBatchTest,
                         ::testing::Values(Mode::kTrain, Mode::kEvaluate));

TEST(FullMemoryTest, NotEvenABatchOfOneFits) {
  CudaDevice device(cuda::MakeFakeGpu({.memory_bytes = 100'000}));
  const auto state = device.CreateState(FailingModel().Spec(Mode::kTrain, 1));
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(
      std::string(
          Compile(device, **state, Mode::kTrain, 64).status().message()),
      HasSubstr("; not even a batch of 1 fits"));
}

// Where a call on the GPU finds no memory.
cuda::FakeGpuOptions FullAt(const std::string& failing) {
  return {.fault = [failing](const std::string& call) {
    return call == failing ? absl::ResourceExhaustedError("full")
                           : absl::OkStatus();
  }};
}

TEST(FullMemoryTest, OfAStreamIsAnError) {
  CudaDevice device(cuda::MakeFakeGpu(FullAt("create queue")));
  EXPECT_EQ(device.CreateStream().status(),
            absl::ResourceExhaustedError("full"));
}

// The GPU has room for larger batches, too.
TEST(FullMemoryTest, OfTheHostSaysNothingOfBatches) {
  cuda::FakeGpuOptions options;
  bool is_full = false;
  options.fault = [&](const std::string& call) {
    return is_full && call == "allocate pinned"
               ? cuda::OutOfPinnedMemory("cuda:fake", "a batch", 3 << 20)
               : absl::OkStatus();
  };
  CudaDevice device(cuda::MakeFakeGpu(options));
  const auto state = *device.CreateState(FailingModel().Spec(Mode::kTrain, 1));
  is_full = true;
  EXPECT_EQ(Compile(device, *state, Mode::kTrain, 64).status(),
            absl::ResourceExhaustedError(
                "cuda:fake: out of pinned memory of the host: 3 MiB asked for "
                "a batch"));
}

// --- Operations

struct Fault {
  std::string call;
  // Which such call fails, from 0 on, in steps from 0 on.
  int step = 0;
  int index = 0;
  bool is_late = false;
  std::string owner;
};

class FaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultTest, NamesTheLayer) {
  const Fault& fault = GetParam();
  int step = -1;
  int calls = 0;
  CudaDevice device(cuda::MakeFakeGpu(
      {.fault =
           [&](const std::string& call) {
             const bool fails = step == fault.step && call == fault.call &&
                                calls++ == fault.index;
             return fails ? absl::InternalError("cuda:fake: broken")
                          : absl::OkStatus();
           },
       .faults_are_late = fault.is_late}));
  const std::unique_ptr<Stream> stream = *device.CreateStream();
  const auto state = *device.CreateState(FailingModel().Spec(Mode::kTrain, 2));
  const auto program = *Compile(device, *state, Mode::kTrain, 2);
  const std::vector<float> features(2 * 8 * 8);
  const float labels[] = {1, 0, 0, 1};
  const auto run = [&]() -> absl::Status {
    absl::Status status =
        program->SetBatch({.count = 2,
                           .features = {{DataType::kFloat32, features.data()}},
                           .labels = {{DataType::kFloat32, labels}}},
                          *stream);
    for (size_t i = 0; i < program->sections().size(); ++i) {
      status.Update(program->Enqueue(static_cast<int>(i), *stream));
    }
    return status;
  };
  for (step = 0; step < fault.step; ++step) {
    const absl::Status status = run();
    ASSERT_TRUE(status.ok()) << status;
  }
  const absl::Status status = run();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), absl::StrCat(fault.owner, ": cuda:fake: broken"));
  // The queue can be used again.
  step = fault.step + 1;
  const absl::Status again = run();
  EXPECT_TRUE(again.ok()) << again;
}

INSTANTIATE_TEST_SUITE_P(
    , FaultTest,
    ::testing::Values(Fault{"convolve", 0, 0, false, "layer narrow"},
                      Fault{"convolve", 0, 1, false, "layer wide"},
                      // Of the backward.
                      Fault{"multiply", 0, 1, false, "layer last"},
                      Fault{"convolve", 0, 1, true, "layer wide"},
                      // As it is captured.
                      Fault{"convolve", 1, 1, false, "layer wide"},
                      Fault{"kernel", 0, 0, false, "layer narrow"}));

}  // namespace
}  // namespace paceline
