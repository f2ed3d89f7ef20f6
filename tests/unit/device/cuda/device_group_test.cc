// Groups of devices: who can be one, and how their waits end.
#include "worker/device/device_group.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/optimizer/sgd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cuda/cuda_device.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(CanBeGroupTest, EachHasAGpuOfItsOwn) {
  EXPECT_TRUE(CanBeGroup({"GPU-a", "GPU-b"}));
  EXPECT_TRUE(CanBeGroup({"GPU-b", "GPU-a", "GPU-c"}));
  EXPECT_FALSE(CanBeGroup({"GPU-a", "GPU-a"}));
  EXPECT_FALSE(CanBeGroup({"GPU-a", ""}));
  EXPECT_FALSE(CanBeGroup({"", ""}));
}

TEST(DeviceGroupTest, ARankThatDoesNotComeIsNotWaitedForForever) {
  CudaDevice device(cuda::MakeFakeGpu());
  const absl::Status status =
      device
          .JoinGroup({.nccl_id = *device.NewNcclId(),
                      .rank = 0,
                      .world_size = 2,
                      .timeout = absl::Milliseconds(50)})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

const ModelUnderTest& DenseModel() {
  static const auto& model = *new ModelUnderTest(
      {.layers = *ReadYaml("[Input: {shape: [3]}, Dense: {units: 2}]", "model",
                           limits::kMaxJobBytes)});
  return model;
}

// A replica that trains with a group of two.
class Rank {
 public:
  // `fault` as FakeGpuOptions has it.
  Rank(const std::string& nccl_id, int rank,
       const std::function<absl::Status(const std::string&)>& fault)
      : device_(cuda::MakeFakeGpu({.log = &calls_, .fault = fault})),
        stream_(*device_.CreateStream()),
        group_(*device_.JoinGroup({.nccl_id = nccl_id,
                                   .rank = rank,
                                   .world_size = 2,
                                   .timeout = absl::Seconds(60)})) {
    ProgramSpec spec = DenseModel().Spec(Mode::kTrain, 1);
    spec.optimizer = &sgd_;
    spec.group = group_.get();
    state_ = *device_.CreateState(spec);
    program_ = *device_.Compile(spec, *state_);
    spec.mode = Mode::kEvaluate;
    evaluation_ = *device_.Compile(spec, *state_);
  }

  absl::Status Step() { return Run(*program_); }
  absl::Status Evaluate() { return Run(*evaluation_); }

  std::vector<std::byte> Variables() {
    EXPECT_TRUE(state_->device_updates()->DownloadVariables(0, *stream_).ok());
    const absl::Span<std::byte> variables = state_->host_variables(0);
    return {variables.begin(), variables.end()};
  }

  DeviceGroup& group() { return *group_; }
  const cuda::CallLog& calls() const { return calls_; }

 private:
  absl::Status Run(Program& program) {
    const float features[] = {1, 2, 3};
    const float labels[] = {1, 0};
    Batch batch;
    batch.count = 1;
    batch.features = {{DataType::kFloat32, features}};
    batch.labels = {{DataType::kFloat32, labels}};
    const absl::Status status = program.SetBatch(batch, *stream_);
    return status.ok() ? program.Enqueue(0, *stream_) : status;
  }

  const Sgd sgd_;
  cuda::CallLog calls_;
  CudaDevice device_;
  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<DeviceGroup> group_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Program> evaluation_;
};

// Two of them.
class RanksTest : public ::testing::Test {
 protected:
  RanksTest() {
    const std::string id = *CudaDevice(cuda::MakeFakeGpu()).NewNcclId();
    ForEachRank([&](int rank) {
      ranks_[rank] = std::make_unique<Rank>(
          id, rank, [this, rank](const std::string& call) {
            return rank == 1 && call == "all-reduce" ? fault_
                                                     : absl::OkStatus();
          });
    });
  }

  // On a thread each: they wait for each other.
  static void ForEachRank(const std::function<void(int rank)>& run) {
    std::thread other([&] { run(1); });
    run(0);
    other.join();
  }

  // Of rank 1, as it enqueues a sum.
  absl::Status fault_;
  std::unique_ptr<Rank> ranks_[2];
};

TEST_F(RanksTest, AbortEndsTheOthersWaits) {
  // Waits for rank 1, which ends the group instead.
  std::thread waiting([&] {
    EXPECT_EQ(ranks_[0]->Step().code(), absl::StatusCode::kDataLoss);
  });
  absl::SleepFor(absl::Milliseconds(20));
  ranks_[1]->group().Abort(absl::DataLossError("a file is gone"));
  waiting.join();
  EXPECT_EQ(ranks_[0]->group().status().message(), "a file is gone");
  EXPECT_EQ(ranks_[0]->Step().code(), absl::StatusCode::kDataLoss);
}

TEST_F(RanksTest, NothingIsUpdatedByASumThatFailed) {
  ForEachRank([&](int rank) { EXPECT_TRUE(ranks_[rank]->Step().ok()); });
  const std::vector<std::byte> variables = ranks_[0]->Variables();
  fault_ = absl::UnavailableError("a link is down");
  ForEachRank([&](int rank) {
    EXPECT_EQ(ranks_[rank]->Step(), fault_);
    EXPECT_EQ(ranks_[rank]->calls().back(), "queue 0: all-reduce");
    EXPECT_EQ(ranks_[rank]->Variables(), variables);
  });
}

TEST_F(RanksTest, StepsAreNotCaptured) {
  ForEachRank([&](int rank) {
    for (int step = 0; step < 5; ++step) {
      EXPECT_TRUE(ranks_[rank]->Step().ok());
    }
    EXPECT_THAT(ranks_[rank]->calls(), Not(Contains("queue 0: begin capture")));
  });
}

TEST_F(RanksTest, EvaluationsAreCaptured) {
  for (int batch = 0; batch < 2; ++batch) {
    EXPECT_TRUE(ranks_[0]->Evaluate().ok());
  }
  EXPECT_THAT(ranks_[0]->calls(), Contains("queue 0: launch"));
}

// Of what NCCL would hang at.
TEST(FakeCommunicatorTest, RefusesASumThatIsCaptured) {
  const std::unique_ptr<cuda::Gpu> gpu = cuda::MakeFakeGpu();
  const auto communicator = *gpu->JoinGroup(
      {.nccl_id = *gpu->NewNcclId(), .timeout = absl::Seconds(60)});
  const std::unique_ptr<cuda::Queue> queue =
      *gpu->CreateQueue(cuda::QueueKind::kComputing);
  float value = 1;
  communicator->AllReduce(&value, 1, *queue);
  EXPECT_TRUE(communicator->status().ok());
  queue->BeginCapture();
  communicator->AllReduce(&value, 1, *queue);
  EXPECT_EQ(communicator->status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(FakeCommunicatorTest, RefusesSumsOfDifferentLengths) {
  const std::unique_ptr<cuda::Gpu> gpus[] = {cuda::MakeFakeGpu(),
                                             cuda::MakeFakeGpu()};
  const std::string id = *gpus[0]->NewNcclId();
  const auto sum_up = [&](int rank) {
    const auto communicator =
        *gpus[rank]->JoinGroup({.nccl_id = id,
                                .rank = rank,
                                .world_size = 2,
                                .timeout = absl::Seconds(60)});
    const std::unique_ptr<cuda::Queue> queue =
        *gpus[rank]->CreateQueue(cuda::QueueKind::kComputing);
    float values[2] = {};
    communicator->AllReduce(values, 1 + rank, *queue);
    EXPECT_EQ(communicator->status().code(),
              absl::StatusCode::kFailedPrecondition);
  };
  std::thread other([&] { sum_up(1); });
  sum_up(0);
  other.join();
}

}  // namespace
}  // namespace paceline
