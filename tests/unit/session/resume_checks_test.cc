#include "common/session/leader/resume_checks.h"

#include <string>

#include "common/optimizer/make_optimizer.h"
#include "gmock/gmock.h"

namespace paceline {
namespace {

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

}  // namespace
}  // namespace paceline
