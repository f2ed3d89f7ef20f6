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
  ASSERT_GE(cases.size(), 27);
  for (const json& each : cases) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const auto run = RunCallbacks(Stopping(each["config"]), each["epochs"], "",
                                  /*is_resumed=*/false);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->stopped ? json(*run->stopped) : json(), each["stopped"]);
    EXPECT_EQ(json(run->printed), each["printed"]);
    EXPECT_EQ(json(run->warned), each["warned"]);
    EXPECT_EQ(run->weights, each["weights"]);
  }
}

TEST(EarlyStopping, DecidesTheSameIfEachEpochIsResumed) {
  for (const json& each : ExpectedCases("early_stopping")) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const auto run = RunCallbacks(Stopping(each["config"]), each["epochs"], "",
                                  /*is_resumed=*/true);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->stopped ? json(*run->stopped) : json(), each["stopped"]);
    EXPECT_EQ(run->weights, each["weights"]);
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

TEST(EarlyStopping, RestoresNoWeightsInThePlaceOfAverages) {
  CallbackContext context = TestContext();
  context.has_averages = true;
  EXPECT_TRUE(MakeCallbacks(JobWith(Stopping(json::object())), context).ok());
  const auto made = MakeCallbacks(
      JobWith(Stopping({{"restore_best_weights", true}})), context);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("callbacks[0].restore_best_weights: got true, but the "
                        "optimizer has use_ema"));
}

TEST(EarlyStopping, OneOfThemRestoresWeights) {
  const json restoring = {{"EarlyStopping", {{"restore_best_weights", true}}}};
  const json stopping = {{"EarlyStopping", json::object()}};
  EXPECT_TRUE(
      MakeCallbacks(JobWith({stopping, restoring, stopping}), TestContext())
          .ok());
  const auto made =
      MakeCallbacks(JobWith({restoring, stopping, restoring}), TestContext());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("callbacks[2].restore_best_weights: got true"));
}

TEST(EarlyStopping, RestoresOnlyWhatItHasKept) {
  const json saved = json::parse(
      R"([{"class_name": "EarlyStopping",
           "state": {"best": 0.5, "wait": 1, "best_epoch": 2}}])");
  for (const bool restores : {false, true}) {
    const auto list = MakeCallbacks(
        JobWith(Stopping({{"restore_best_weights", restores}})), TestContext());
    ASSERT_TRUE(list.ok()) << list.status();
    ASSERT_TRUE((*list)->Restore(saved, "callbacks").ok());
    EXPECT_EQ((*list)->restores_kept(), restores);
    // A job that has not kept its best model before.
    json earlier = saved;
    earlier[0]["state"].erase("best_epoch");
    const auto anew = MakeCallbacks(
        JobWith(Stopping({{"restore_best_weights", restores}})), TestContext());
    ASSERT_TRUE((*anew)->Restore(earlier, "callbacks").ok());
    EXPECT_FALSE((*anew)->restores_kept());
  }
}

}  // namespace
}  // namespace paceline
