// EarlyStopping against what Keras' own decides.
#include "common/callback/early_stopping.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

json Stopping(const json& config) {
  return json::array({{{"EarlyStopping", config}}});
}

TEST(EarlyStopping, DecidesAsInKeras) {
  const json cases = ExpectedCases("early_stopping");
  ASSERT_GE(cases.size(), 18);
  for (const json& each : cases) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const auto run = RunCallbacks(Stopping(each["config"]), each["epochs"], "",
                                  /*is_resumed=*/false);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->stopped ? json(*run->stopped) : json(), each["stopped"]);
    EXPECT_EQ(json(run->printed), each["printed"]);
    EXPECT_EQ(json(run->warned), each["warned"]);
  }
}

TEST(EarlyStopping, DecidesTheSameIfEachEpochIsResumed) {
  for (const json& each : ExpectedCases("early_stopping")) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const auto run = RunCallbacks(Stopping(each["config"]), each["epochs"], "",
                                  /*is_resumed=*/true);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->stopped ? json(*run->stopped) : json(), each["stopped"]);
  }
}

TEST(EarlyStopping, RefusesAMonitorThatItCannotJudge) {
  for (const char* const monitor : {"val_false_positives", "val_acc", ""}) {
    const auto made =
        MakeCallbacks(JobWith(Stopping({{"monitor", monitor}})), TestContext());
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(made.status().message()),
                HasSubstr("callbacks[0].monitor: auto does not say"));
  }
  EXPECT_TRUE(MakeCallbacks(
                  JobWith(Stopping({{"monitor", "val_acc"}, {"mode", "max"}})),
                  TestContext())
                  .ok());
}

TEST(EarlyStopping, SaysThatItDoesNotRestoreWeights) {
  const auto made = MakeCallbacks(
      JobWith(Stopping({{"restore_best_weights", true}})), TestContext());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("callbacks[0].restore_best_weights: true is not "
                        "supported yet"));
}

}  // namespace
}  // namespace paceline
