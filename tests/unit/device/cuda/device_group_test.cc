// Groups of devices: who can be one, and how their waits end.
#include "worker/device/device_group.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "common/optimizer/sgd.h"
#include "gtest/gtest.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cuda/cuda_device.h"

namespace paceline {
namespace {

TEST(CanBeGroupTest, EachHasHardwareOfItsOwn) {
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
          .JoinGroup({.group_id = *device.NewGroupId(),
                      .rank = 0,
                      .world_size = 2,
                      .timeout = absl::Milliseconds(50)})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

// A replica that trains with a group of two.
class Rank {
 public:
  Rank(const ModelUnderTest& model, const std::string& group_id, int rank)
      : device_(cuda::MakeFakeGpu()),
        stream_(*device_.CreateStream()),
        group_(*device_.JoinGroup({.group_id = group_id,
                                   .rank = rank,
                                   .world_size = 2,
                                   .timeout = absl::Seconds(60)})) {
    ProgramSpec spec = model.Spec(Mode::kTrain, 1);
    spec.optimizer = &sgd_;
    spec.group = group_.get();
    state_ = *device_.CreateState(spec);
    program_ = *device_.Compile(spec, *state_);
  }

  absl::Status Step() {
    const float features[] = {1, 2, 3};
    const float labels[] = {1, 0};
    Batch batch;
    batch.count = 1;
    batch.features = {DataType::kFloat32, features};
    batch.labels = {DataType::kFloat32, labels};
    const absl::Status status = program_->SetBatch(batch, *stream_);
    return status.ok() ? program_->Enqueue(0, *stream_) : status;
  }

  DeviceGroup& group() { return *group_; }

 private:
  const Sgd sgd_;
  CudaDevice device_;
  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<DeviceGroup> group_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<Program> program_;
};

TEST(DeviceGroupTest, AbortEndsTheOthersWaits) {
  const ModelUnderTest model(
      {.layers = *ReadYaml("[Input: {shape: [3]}, Dense: {units: 2}]", "model",
                           limits::kMaxJobBytes)});
  const std::string id = *CudaDevice(cuda::MakeFakeGpu()).NewGroupId();
  std::vector<std::unique_ptr<Rank>> ranks(2);
  std::vector<std::thread> makers;
  for (int rank = 0; rank < 2; ++rank) {
    makers.emplace_back(
        [&, rank] { ranks[rank] = std::make_unique<Rank>(model, id, rank); });
  }
  for (std::thread& maker : makers) maker.join();

  // Waits for rank 1, which ends the group instead.
  std::thread waiting([&] { EXPECT_TRUE(ranks[0]->Step().ok()); });
  absl::SleepFor(absl::Milliseconds(20));
  ranks[1]->group().Abort(absl::DataLossError("a file is gone"));
  waiting.join();
  EXPECT_EQ(ranks[0]->group().status().message(), "a file is gone");
  EXPECT_EQ(ranks[0]->Step().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace paceline
