// LearningRateScheduler and ReduceLROnPlateau.
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/file.h"
#include "common/callback/callback_list.h"
#include "common/callback/make_callbacks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Of callbacks in JSON.
absl::StatusOr<std::unique_ptr<CallbackList>> Make(
    const std::vector<std::string>& callbacks,
    const CallbackContext& context = TestContext()) {
  json list = json::array();
  for (const std::string& text : callbacks) list.push_back(json::parse(text));
  return MakeCallbacks(JobWith(list), context);
}

// A job's learning rate, which callbacks find and set.
class Rates {
 public:
  Rates(std::unique_ptr<CallbackList> callbacks, double rate)
      : callbacks_(std::move(callbacks)), rate_(rate) {}

  // Whoever keeps the rate rounds it to float32, as Keras' optimizers do.
  std::vector<std::string> Begin(int epoch) {
    return Obey(callbacks_->EpochBegan({.epoch = epoch,
                                        .learning_rate = rate_,
                                        .steps = 100 * epoch,
                                        .num_replicas = 4}));
  }
  std::vector<std::string> End(int epoch, const Logs& logs) {
    EpochEnd end;
    end.epoch = epoch;
    end.logs = logs;
    end.learning_rate = rate_;
    return Obey(callbacks_->EpochEnded(std::move(end)));
  }
  CallbackList& callbacks() { return *callbacks_; }
  double rate() const { return rate_; }

 private:
  std::vector<std::string> Obey(const Decision& decision) {
    if (decision.learning_rate) {
      rate_ = static_cast<float>(*decision.learning_rate);
    }
    std::vector<std::string> texts;
    for (const CallbackOutput& output : decision.outputs) {
      if (const auto* message = std::get_if<ShowMessage>(&output)) {
        texts.push_back(message->text);
      } else if (const auto* warning = std::get_if<ShowWarning>(&output)) {
        texts.push_back("warning: " + warning->text);
      }
    }
    return texts;
  }

  std::unique_ptr<CallbackList> callbacks_;
  double rate_;
};

// tests/interop/rate_callbacks_expected.py has Keras' callbacks do the same.
TEST(RateCallbacksTest, DecideAsThoseOfKeras) {
  const auto text = ReadFile(PACELINE_SOURCE_DIR
                             "/tests/interop/rate_callbacks_expected.json",
                             1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json expected = json::parse(*text);
  for (const json& each : expected["cases"]) {
    SCOPED_TRACE(each["name"].dump());
    json config = each["config"];
    config["verbose"] = 1;
    auto callbacks =
        Make({json{{each["class_name"].get<std::string>(), config}}.dump()});
    ASSERT_TRUE(callbacks.ok()) << callbacks.status();
    Rates rates(*std::move(callbacks), each["rate"]);
    int epoch = 0;
    for (const json& of_keras : each["epochs"]) {
      SCOPED_TRACE(epoch);
      std::vector<std::string> messages = rates.Begin(epoch);
      const double loss = expected["losses"][epoch];
      for (std::string& message : rates.End(epoch, {{"loss", loss}})) {
        messages.push_back(std::move(message));
      }
      EXPECT_FLOAT_EQ(rates.rate(), of_keras[1].get<double>());
      EXPECT_EQ(messages, of_keras[2].get<std::vector<std::string>>());
      ++epoch;
    }
    EXPECT_EQ(epoch, static_cast<int>(expected["losses"].size()));
  }
}

TEST(RateCallbacksTest, ATableSaysFromWhichEpochOn) {
  auto callbacks = Make({R"({"LearningRateScheduler": {"schedule":
             {"2": 0.5, "5": 0.25, "10": 2}}})"});
  ASSERT_TRUE(callbacks.ok()) << callbacks.status();
  Rates rates(*std::move(callbacks), 1);
  std::vector<double> used;
  for (int epoch = 0; epoch < 12; ++epoch) {
    EXPECT_THAT(rates.Begin(epoch), ElementsAre());
    used.push_back(rates.rate());
  }
  EXPECT_THAT(used,
              ElementsAre(1, 1, .5, .5, .5, .25, .25, .25, .25, .25, 2, 2));
}

TEST(RateCallbacksTest, AnExpressionKnowsTheJobAndTheCallbackBefore) {
  auto callbacks =
      Make({R"({"LearningRateScheduler": {"schedule": "step + num_replicas"}})",
            R"({"LearningRateScheduler": {"schedule": "lr / 2"}})"});
  ASSERT_TRUE(callbacks.ok()) << callbacks.status();
  Rates rates(*std::move(callbacks), 1);
  rates.Begin(3);
  EXPECT_EQ(rates.rate(), 152);
}

TEST(RateCallbacksTest, ARateThatNoStepCanHaveNamesItsExpression) {
  auto callbacks =
      Make({R"("TerminateOnNaN")", R"({"LearningRateScheduler": {"schedule":
                                 "0.5 if epoch < 2 else 0 - 1"}})"});
  ASSERT_TRUE(callbacks.ok()) << callbacks.status();
  EXPECT_TRUE((*callbacks)->EpochBegan({.epoch = 1}).failure.ok());
  const Decision decision = (*callbacks)->EpochBegan({.epoch = 2});
  EXPECT_FALSE(decision.learning_rate);
  EXPECT_EQ(decision.failure.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(decision.failure.message(),
            "callbacks[1].schedule: \"0.5 if epoch < 2 else 0 - 1\" gives the "
            "learning rate -1.0 for epoch 3 (`epoch` 2); expected a number "
            "from 0 to 3.4e+38, the largest float32");
  auto infinite =
      Make({R"({"LearningRateScheduler": {"schedule": "exp(1000) + lr"}})"});
  ASSERT_TRUE(infinite.ok()) << infinite.status();
  EXPECT_THAT(
      std::string((*infinite)->EpochBegan({.epoch = 0}).failure.message()),
      HasSubstr("\"exp(1000) + lr\" gives the learning rate inf for epoch 1"));
}

TEST(RateCallbacksTest, AMissingValueIsWarnedOfOnce) {
  auto callbacks = Make({R"({"ReduceLROnPlateau": {}})"});
  ASSERT_TRUE(callbacks.ok()) << callbacks.status();
  Rates rates(*std::move(callbacks), 1);
  EXPECT_THAT(rates.End(0, {{"loss", 1}}),
              ElementsAre("warning: Learning rate reduction is conditioned on "
                          "metric `val_loss` which is not available. Available "
                          "metrics are: loss,learning_rate."));
  EXPECT_THAT(rates.End(1, {{"loss", 1}}), ElementsAre());
}

TEST(RateCallbacksTest, APlateauGoesOnAfterAResume) {
  const std::string text =
      R"({"ReduceLROnPlateau": {"monitor": "loss", "patience": 2,
          "cooldown": 3, "factor": 0.5}})";
  // As if the job were resumed after each epoch, and as if never.
  Rates whole(*Make({text}), 1);
  double rate = 1;
  json saved = whole.callbacks().Save();
  for (int epoch = 0; epoch < 15; ++epoch) {
    whole.End(epoch, {{"loss", 1}});
    Rates resumed(*Make({text}), rate);
    const absl::Status status =
        resumed.callbacks().Restore(json::parse(saved.dump()), "saved");
    ASSERT_TRUE(status.ok()) << status;
    resumed.End(epoch, {{"loss", 1}});
    rate = resumed.rate();
    saved = resumed.callbacks().Save();
    EXPECT_EQ(rate, whole.rate()) << epoch;
  }
  EXPECT_LT(rate, 0.3);
}

TEST(RateCallbacksTest, RefuseWhatCannotBe) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"LearningRateScheduler": {}})", "callbacks[0].schedule"},
      {R"({"LearningRateScheduler": {"schedule": {}}})",
       "expected map of epochs"},
      {R"({"LearningRateScheduler": {"schedule": [1]}})",
       "expected map of epochs"},
      {R"({"LearningRateScheduler": {"schedule": {"-1": 0.5}}})",
       "key \"-1\"; expected the number of an epoch"},
      {R"({"LearningRateScheduler": {"schedule": {"x": 0.5}}})",
       "key \"x\"; expected"},
      {R"({"LearningRateScheduler": {"schedule": {"1": -0.5}}})",
       "callbacks[0].schedule.1"},
      {R"({"LearningRateScheduler": {"schedule": {"1": "fast"}}})",
       "callbacks[0].schedule.1"},
      {R"({"LearningRateScheduler": {"schedule": "lr +"}})",
       "callbacks[0].schedule: position 5: the end"},
      {R"({"ReduceLROnPlateau": {"factor": 1}})", "callbacks[0].factor"},
      {R"({"ReduceLROnPlateau": {"factor": -0.5}})", "callbacks[0].factor"},
      {R"({"ReduceLROnPlateau": {"min_lr": -1}})", "callbacks[0].min_lr"},
      {R"({"ReduceLROnPlateau": {"cooldown": -1}})", "callbacks[0].cooldown"},
      {R"({"ReduceLROnPlateau": {"monitor": "val_best"}})",
       "callbacks[0].monitor"},
  };
  for (const auto& [text, error] : cases) {
    SCOPED_TRACE(text);
    EXPECT_THAT(std::string(Make({text}).status().message()), HasSubstr(error));
  }
}

TEST(RateCallbacksTest, NeedARateThatTheyCanSet) {
  CallbackContext context = TestContext();
  context.has_rate_schedule = true;
  EXPECT_THAT(
      std::string(
          Make({R"({"LearningRateScheduler": {"schedule": "lr"}})"}, context)
              .status()
              .message()),
      HasSubstr("callbacks[0]: LearningRateScheduler needs an optimizer with a "
                "constant learning_rate"));
  EXPECT_THAT(
      std::string(
          Make({R"({"ReduceLROnPlateau": {}})"}, context).status().message()),
      HasSubstr("callbacks[0]: ReduceLROnPlateau needs an optimizer"));
}

}  // namespace
}  // namespace paceline
