#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/config/json_value.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

CallbackContext AveragingContext() {
  CallbackContext context = TestContext();
  context.has_averages = true;
  return context;
}

std::string SwappingError(const json& callbacks,
                          const CallbackContext& context) {
  const auto made = MakeCallbacks(JobWith(callbacks), context);
  return made.ok() ? "" : std::string(made.status().message());
}

// Which values the files have that the callbacks ask for at the end of an
// epoch.
std::vector<SavedValues> ValuesOf(const json& callbacks, bool is_last) {
  const auto list = MakeCallbacks(JobWith(callbacks), AveragingContext());
  EXPECT_TRUE(list.ok()) << list.status();
  EpochEnd end;
  end.is_last = is_last;
  std::vector<SavedValues> values;
  for (const CheckpointOutput& save :
       (*list)->EpochEnded(std::move(end)).saves) {
    values.push_back(std::get<SaveModel>(save).values);
  }
  return values;
}

json Saver(const char* file) {
  return {{"ModelCheckpoint", {{"filepath", file}}}};
}

TEST(SwapEmaWeights, NeedsAverages) {
  const json swap = json::array({"SwapEMAWeights"});
  EXPECT_EQ(SwappingError(swap, AveragingContext()), "");
  EXPECT_EQ(SwappingError(swap, TestContext()),
            "callbacks[0]: SwapEMAWeights needs the averages of `use_ema`, but "
            "the job's optimizer has use_ema: false; expected an `optimizer` "
            "with use_ema: true");
}

TEST(SwapEmaWeights, IsThereOnce) {
  EXPECT_THAT(
      SwappingError(json::array({"SwapEMAWeights", "SwapEMAWeights"}),
                    AveragingContext()),
      HasSubstr("callbacks[1]: SwapEMAWeights is there twice; expected one"));
}

TEST(SwapEmaWeights, HasTheAveragesValidated) {
  for (const bool on_epoch : {false, true}) {
    const auto list = *MakeCallbacks(
        JobWith(
            json::array({{{"SwapEMAWeights", {{"swap_on_epoch", on_epoch}}}}})),
        AveragingContext());
    EXPECT_TRUE(list->swaps_averages());
  }
  EXPECT_FALSE((*MakeCallbacks(JobWith(json::array()), AveragingContext()))
                   ->swaps_averages());
}

// As Keras' callbacks, which see the model in their order.
TEST(SwapEmaWeights, CallbacksAfterItSaveTheAverages) {
  const json swap = {{"SwapEMAWeights", {{"swap_on_epoch", true}}}};
  const json callbacks =
      json::array({Saver("a.keras"), swap, Saver("b.keras")});
  EXPECT_EQ(ValuesOf(callbacks, /*is_last=*/false),
            (std::vector{SavedValues::kOwn, SavedValues::kSwapped}));
  EXPECT_EQ(ValuesOf(callbacks, /*is_last=*/true),
            (std::vector{SavedValues::kOwn, SavedValues::kAverages}));
  const json others = json::array({"SwapEMAWeights", Saver("b.keras")});
  EXPECT_EQ(ValuesOf(others, /*is_last=*/true), std::vector{SavedValues::kOwn});
}

TEST(SwapEmaWeights, FilesOfBatchesHaveTheVariables) {
  const auto list = *MakeCallbacks(
      JobWith(json::array({{{"SwapEMAWeights", {{"swap_on_epoch", true}}}},
                           {{"ModelCheckpoint",
                             {{"filepath", "a.keras"}, {"save_freq", 1}}}}})),
      AveragingContext());
  const Decision decision = list->BatchEnded({});
  ASSERT_THAT(decision.saves, SizeIs(1));
  EXPECT_EQ(std::get<SaveModel>(decision.saves[0]).values, SavedValues::kOwn);
}

TEST(CallbackContext, KnowsAveragesOfTheOptimizerInAnother) {
  const auto has_averages = [](const json& optimizer) {
    v1::Job job;
    const auto object =
        ReadKerasObject(ValueFromJson(optimizer), Path("optimizer"));
    EXPECT_TRUE(object.ok()) << object.status();
    *job.mutable_optimizer() = *ToProto(*object, Path("optimizer"));
    return ContextOf(job, {}).has_averages;
  };
  const json averaging = {{"Adam", {{"use_ema", true}}}};
  EXPECT_TRUE(has_averages(averaging));
  EXPECT_FALSE(has_averages("Adam"));
  EXPECT_FALSE(has_averages({{"Adam", {{"use_ema", false}}}}));
  EXPECT_TRUE(
      has_averages({{"LossScaleOptimizer", {{"inner_optimizer", averaging}}}}));
  EXPECT_FALSE(
      has_averages({{"LossScaleOptimizer", {{"inner_optimizer", "Adam"}}}}));
}

}  // namespace
}  // namespace paceline
