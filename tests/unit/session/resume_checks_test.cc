#include "common/session/leader/resume_checks.h"

#include <filesystem>
#include <memory>
#include <string>

#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/manifest.h"
#include "common/optimizer/make_optimizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/checkpoint/checkpoint_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

v1::KerasObject Sgd(int calls_per_update) {
  v1::KerasObject object;
  object.set_class_name("SGD");
  (*object.mutable_config()->mutable_fields())["gradient_accumulation_steps"]
      .set_number_value(calls_per_update);
  return object;
}

// A checkpoint of two shards, with accumulation of 4 calls.
Manifest CheckpointAt(int64_t step) {
  Manifest manifest;
  *manifest.trained.mutable_optimizer() = Sgd(4);
  manifest.shards.resize(2);
  manifest.shards[1].step = step;
  return manifest;
}

absl::Status Check(const Manifest& restored, int calls_per_update) {
  return CheckAccumulation(restored, **MakeOptimizer(Sgd(calls_per_update)));
}

TEST(ResumeChecksTest, AnAccumulationGoesOnWithItsNumberOfCalls) {
  Manifest restored = CheckpointAt(6);
  EXPECT_TRUE(Check(restored, 4).ok());
  for (const int other : {0, 3}) {
    const absl::Status status = Check(restored, other);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("optimizer.gradient_accumulation_steps: got "));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("gradients of 2 of the 4 calls of an update"));
  }
  restored.trained.set_initial_iterations(2);
  EXPECT_TRUE(Check(restored, 3).ok());
}

TEST(ResumeChecksTest, BetweenUpdatesTheNumberMayChange) {
  EXPECT_TRUE(Check(CheckpointAt(8), 3).ok());
  EXPECT_TRUE(Check(CheckpointAt(8), 0).ok());
  Manifest restored = CheckpointAt(6);
  restored.trained.clear_optimizer();
  EXPECT_TRUE(Check(restored, 3).ok());
}

class ReadResumableTest : public CheckpointTest {
 protected:
  // Writes a checkpoint of step 5 whose session has `steps`; returns its
  // folder.
  std::string Write(int64_t steps, const std::string& kept = "") {
    std::string folder = *CreateCheckpointFolder(directory_, 5);
    Manifest manifest = MakeManifest(DataType::kFloat32, 1);
    manifest.step = 5;
    manifest.phase = "head";
    manifest.kept = kept;
    manifest.shards.push_back(WriteShard<float>(folder, manifest, 0, 1));
    manifest.session = std::make_shared<const nlohmann::json>(
        nlohmann::json{{"steps", steps}});
    EXPECT_EQ(WriteManifest(folder, manifest), absl::OkStatus());
    return folder;
  }

  // OK if a job whose phase is "head" can resume from it.
  static absl::Status Read(const std::string& folder,
                           const std::string& phase = "head") {
    return ReadResumable(folder, phase, **MakeOptimizer(Sgd(0))).status();
  }
};

TEST_F(ReadResumableTest, ReadsWhatFits) {
  const std::string folder = Write(5);
  EXPECT_EQ(Read(folder), absl::OkStatus());
  const absl::Status other = Read(folder, "tune");
  EXPECT_EQ(other.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(other.message()),
      AllOf(HasSubstr("cannot resume from " + folder),
            HasSubstr("phase \"head\"; expected one of phase \"tune\"")));
}

TEST_F(ReadResumableTest, TheSessionIsOfTheStepOfTheVariables) {
  const std::string folder = Write(4);
  const absl::Status status = Read(folder);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("cannot use " + folder + "/manifest.json"),
                    HasSubstr("session.steps"),
                    HasSubstr("expected 5, the step of the checkpoint")));
}

TEST_F(ReadResumableTest, TheBestEpochsCheckpointMustBeThere) {
  const std::filesystem::path best = WriteCheckpoint(4);
  const std::string folder = Write(5, best.filename());
  EXPECT_EQ(Read(folder), absl::OkStatus());
  std::filesystem::remove_all(best);
  EXPECT_THAT(std::string(Read(folder).message()),
              AllOf(HasSubstr("cannot resume from " + folder),
                    HasSubstr("needs the variables of the best epoch")));
}

}  // namespace
}  // namespace paceline
