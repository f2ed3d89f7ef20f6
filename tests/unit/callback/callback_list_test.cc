// The list of a job's callbacks: which classes it knows, and its state.
#include "common/callback/callback_list.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json TwoCallbacks() {
  return json::array({{{"EarlyStopping", {{"patience", 2}}}},
                      {{"CSVLogger", {{"filename", "log.csv"}}}}});
}

std::string MakeError(const json& callbacks,
                      const CallbackContext& context = TestContext()) {
  const auto made = MakeCallbacks(JobWith(callbacks), context);
  return made.ok() ? "" : std::string(made.status().message());
}

TEST(CallbackList, RefusesAnUnknownClassByName) {
  EXPECT_THAT(MakeError(json::array({TwoCallbacks()[0], "EarlyStoping"})),
              HasSubstr("callbacks[1]: unknown callback \"EarlyStoping\"; did "
                        "you mean \"EarlyStopping\"?"));
  EXPECT_THAT(MakeError(json::array({{{"EarlyStopping", {{"patiance", 2}}}}})),
              HasSubstr("callbacks[0].patiance: unknown key; did you mean "
                        "\"patience\"?"));
}

TEST(CallbackList, NamesTheFirstThatEndsTraining) {
  const auto list = *MakeCallbacks(
      JobWith(json::array({{{"CSVLogger", {{"filename", "log.csv"}}}},
                           {{"EarlyStopping", {{"monitor", "loss"}}}},
                           {{"EarlyStopping", {{"monitor", "mae"}}}}})),
      TestContext());
  EpochEnd end;
  end.logs = {{"loss", 1}, {"mae", 1}};
  EXPECT_EQ(list->EpochEnded(end).stopped_by, "");
  end.epoch = 1;
  const Decision decision = list->EpochEnded(end);
  EXPECT_TRUE(decision.stops_training);
  EXPECT_EQ(decision.stopped_by, "EarlyStopping");
}

TEST(CallbackList, EachWritesToItsOwnFile) {
  const json logger = {{"CSVLogger", {{"filename", "a/log.csv"}}}};
  const json same = {{"CSVLogger", {{"filename", "./a//log.csv"}}}};
  EXPECT_THAT(MakeError(json::array({logger, same})),
              HasSubstr("callbacks[1]: it writes to \"a/log.csv\", but "
                        "\"a/log.csv\" is of an earlier callback"));
  const auto csv = [](const std::string& name) {
    return json{{"CSVLogger", {{"filename", name}}}};
  };
  EXPECT_THAT(MakeError(json::array({csv("a"), csv("a/b")})),
              HasSubstr("callbacks[1]: it writes to \"a/b\", but \"a\""));
  for (const char* const taken : {"logs", "logs/train", "logs/train/x"}) {
    EXPECT_THAT(MakeError(json::array({"TensorBoard", csv(taken)})),
                HasSubstr("callbacks[1]: it writes to"))
        << taken;
  }
  EXPECT_THAT(MakeError(json::array({csv("logs")})),
              HasSubstr("callbacks[0]: it writes to \"logs\""));
  EXPECT_EQ(
      MakeError(json::array({"TensorBoard", csv("logs/x.csv"),
                             csv("logs/training.csv"), csv("a"), csv("ab")})),
      "");
  for (const char* own : {"result.json.tmp", "logs/worker-0.log", "phases",
                          "phases/a/checkpoint"}) {
    EXPECT_THAT(MakeError(json::array({{{"CSVLogger", {{"filename", own}}}}})),
                HasSubstr("is of the run itself"));
  }
}

TEST(CallbackList, TerminateOnNanAgreesWithTheJob) {
  EXPECT_EQ(MakeError(json::array({"TerminateOnNaN"})), "");
  CallbackContext context = TestContext();
  context.terminates_on_nan = false;
  EXPECT_THAT(MakeError(json::array({"TerminateOnNaN"}), context),
              HasSubstr("callbacks[0]: TerminateOnNaN contradicts"));
}

TEST(CallbackList, RefusesTheStateOfOthersByName) {
  const auto list = *MakeCallbacks(JobWith(TwoCallbacks()), TestContext());
  const auto one =
      *MakeCallbacks(JobWith(json::array({TwoCallbacks()[0]})), TestContext());
  const absl::Status refused = one->Restore(list->Save(), "callbacks");
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "callbacks: the checkpoint has the state of callbacks "
            "EarlyStopping, CSVLogger; the job has callbacks EarlyStopping");
  EXPECT_THAT(
      std::string(list->Restore(json::array(), "callbacks").message()),
      HasSubstr("has the state of no callbacks; the job has callbacks "));
}

TEST(CallbackList, RefusesDamagedStates) {
  const json good =
      (*MakeCallbacks(JobWith(TwoCallbacks()), TestContext()))->Save();
  const struct {
    json::json_pointer where;
    json value;
  } cases[] = {
      {json::json_pointer(""), 5},
      {json::json_pointer("/0"), "EarlyStopping"},
      {json::json_pointer("/0/class_name"), 1},
      {json::json_pointer("/0/state"), json::array()},
      {json::json_pointer("/0/state/wait"), -1},
      {json::json_pointer("/0/state/best"), "small"},
      {json::json_pointer("/1/state/offset"), 1.5},
      {json::json_pointer("/1/state/keys"), "loss"},
      {json::json_pointer("/1/state/keys"), json::array({1})},
  };
  for (const auto& each : cases) {
    json damaged = good;
    damaged[each.where] = each.value;
    const auto list = *MakeCallbacks(JobWith(TwoCallbacks()), TestContext());
    EXPECT_EQ(list->Restore(damaged, "callbacks").code(),
              absl::StatusCode::kDataLoss)
        << damaged;
  }
}

}  // namespace
}  // namespace paceline
