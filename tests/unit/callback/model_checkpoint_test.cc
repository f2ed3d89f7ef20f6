// ModelCheckpoint, and names of files, against Keras and Python.
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/callback/number_template.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// tests/interop/model_checkpoint_expected.py has Keras do the same.
const json& SavingExpected() {
  static const auto& expected = *new json([] {
    const auto text = ReadFile(PACELINE_SOURCE_DIR
                               "/tests/interop/model_checkpoint_expected.json",
                               1 << 20);
    EXPECT_TRUE(text.ok()) << text.status();
    return json::parse(*text);
  }());
  return expected;
}

json Saving(const json& config) {
  return json::array({{{"ModelCheckpoint", config}}});
}

std::string SavingError(const json& config) {
  const auto made = MakeCallbacks(JobWith(Saving(config)), TestContext());
  return made.ok() ? "" : std::string(made.status().message());
}

Decision EndEpoch(CallbackList& list, int epoch, const Logs& logs) {
  EpochEnd end;
  end.epoch = epoch;
  end.logs = logs;
  return list.EpochEnded(std::move(end));
}

// What a decision says and saves, as the file of expected values has it; its
// warnings go to `warned`.
json Told(const Decision& decision, json& warned) {
  json told = {{"printed", json::array()}, {"saved", nullptr}};
  for (const CallbackOutput& output : decision.outputs) {
    if (const auto* warning = std::get_if<ShowWarning>(&output)) {
      warned.push_back(warning->text);
    } else {
      told["printed"].push_back(std::get<ShowMessage>(output).text);
    }
  }
  for (const CheckpointOutput& output : decision.saves) {
    const auto& save = std::get<SaveModel>(output);
    EXPECT_TRUE(told["saved"].is_null());
    told["saved"] = save.path;
    told["is_weights_only"] = save.is_weights_only;
    if (!save.message.empty()) told["printed"].push_back(save.message);
  }
  return told;
}

class ModelCheckpointTest : public ::testing::TestWithParam<bool> {};

TEST_P(ModelCheckpointTest, SavesAndSaysWhatKerasDoes) {
  const json& cases = SavingExpected().at("cases");
  ASSERT_GE(cases.size(), 14);
  for (const json& each : cases) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const v1::Job job = JobWith(Saving(each["config"]));
    auto list = MakeCallbacks(job, TestContext());
    ASSERT_TRUE(list.ok()) << list.status();
    json warned = json::array();
    for (size_t epoch = 0; epoch < each["epochs"].size(); ++epoch) {
      if (GetParam()) {
        const json saved = json::parse((*list)->Save().dump());
        list = MakeCallbacks(job, TestContext());
        ASSERT_TRUE((*list)->Restore(saved, "callbacks").ok());
      }
      const Decision decision = EndEpoch(**list, static_cast<int>(epoch),
                                         LogsOf(each["epochs"][epoch]));
      EXPECT_EQ(decision.failure, absl::OkStatus());
      EXPECT_EQ(Told(decision, warned), each["events"][epoch]) << epoch;
    }
    // A process warns once.
    if (!GetParam()) {
      EXPECT_EQ(warned, each["warned"]);
    }
  }
}

TEST_P(ModelCheckpointTest, SavesAfterBatchesAsKerasDoes) {
  const json& cases = SavingExpected().at("batch_cases");
  ASSERT_GE(cases.size(), 9);
  for (const json& each : cases) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const v1::Job job = JobWith(Saving(each["config"]));
    auto list = MakeCallbacks(job, TestContext());
    ASSERT_TRUE(list.ok()) << list.status();
    json warned = json::array();
    auto event = each["events"].begin();
    const auto expect = [&](const Decision& decision) {
      EXPECT_EQ(decision.failure, absl::OkStatus());
      EXPECT_EQ(Told(decision, warned), *event++);
    };
    for (size_t epoch = 0; epoch < each["epochs"].size(); ++epoch) {
      const json& batches = each["epochs"][epoch];
      for (size_t batch = 0; batch < batches.size(); ++batch) {
        if (GetParam()) {
          const json saved = json::parse((*list)->Save().dump());
          list = MakeCallbacks(job, TestContext());
          ASSERT_TRUE((*list)->Restore(saved, "callbacks").ok());
        }
        expect((*list)->BatchEnded({.epoch = static_cast<int>(epoch),
                                    .batch = static_cast<int64_t>(batch),
                                    .logs = LogsOf(batches[batch])}));
      }
      expect(EndEpoch(**list, static_cast<int>(epoch),
                      LogsOf(batches[batches.size() - 1])));
    }
    EXPECT_TRUE(event == each["events"].end());
    if (!GetParam()) {
      EXPECT_EQ(warned, each["warned"]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AtOnceAndResumed, ModelCheckpointTest,
                         ::testing::Bool());

TEST(NumberTemplate, FormatsAsPythonDoes) {
  const json& formats = SavingExpected().at("formats");
  ASSERT_GE(formats.size(), 100);
  for (const json& each : formats) {
    const std::string text = each["template"];
    const json& value = each["value"];
    const auto made = FormatTemplate(
        text, [&](absl::string_view name) -> std::optional<TemplateNumber> {
          if (name == "epoch") return value.get<int64_t>();
          return LogsOf({{"loss", value}}).front().second;
        });
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(*made, each["text"].get<std::string>()) << text << " " << value;
  }
}

TEST(NumberTemplate, NamesWhatItDoesNotKnow) {
  const auto format = [](absl::string_view text) {
    const auto made = FormatTemplate(
        text, [](absl::string_view name) -> std::optional<TemplateNumber> {
          if (name == "epoch") return int64_t{7};
          return name == "loss" ? std::optional<TemplateNumber>(0.5)
                                : std::nullopt;
        });
    return std::string(made.status().message());
  };
  for (const char* const text : {"{acc:.2f}", "{}", "{epoch!r}", "{ epoch}"}) {
    EXPECT_THAT(format(text), HasSubstr("there is no value of this name"))
        << text;
  }
  for (const char* const text :
       {"{epoch:.2d}", "{epoch:x}", "{epoch:999999999999d}", "{epoch:2,}",
        "{epoch:d }", "{epoch:.d}", "{epoch:{epoch}", "{epoch:/}"}) {
    EXPECT_THAT(format(text), HasSubstr("unknown format; expected one such as "
                                        "{epoch:02d}"))
        << text;
  }
  for (const char* const text : {"{loss:d}", "{loss:.3}", "{loss:.101f}"}) {
    EXPECT_THAT(format(text), HasSubstr("expected one such as {loss:.2f}"))
        << text;
  }
  for (const char* const text : {"}", "a{", "{{{", "{epoch", "x}y", "}}}"}) {
    EXPECT_THAT(format(text), HasSubstr("a single ")) << text;
  }
}

TEST(ModelCheckpoint, RefusesNamesThatAreNotOfItsFiles) {
  for (const char* const file :
       {"", "x", "x.hdf5", "x.weights.h5", ".keras/"}) {
    EXPECT_THAT(SavingError({{"filepath", file}}),
                HasSubstr("expected one that ends in .keras or .h5, as "
                          "`save_weights_only` is false"))
        << file;
  }
  EXPECT_THAT(SavingError({{"filepath", "x.h5"}, {"save_weights_only", true}}),
              HasSubstr("expected one that ends in .weights.h5"));
  EXPECT_EQ(SavingError({{"filepath", "x.h5"}}), "");
  EXPECT_THAT(
      SavingError({{"filepath", "x.keras"}, {"save_weights_only", true}}),
      HasSubstr("callbacks[0].filepath: \"x.keras\" is no name of such a file; "
                "expected one that ends in .weights.h5"));
  for (const char* const file : {"../x.keras", "/x.keras", "a/../x.keras",
                                 "model.keras", "checkpoint/x.keras"}) {
    EXPECT_THAT(SavingError({{"filepath", file}}),
                HasSubstr("callbacks[0].filepath: "))
        << file;
  }
  EXPECT_EQ(SavingError({{"filepath", "val/x.keras"}}), "");
  // The message has the path as the job has it.
  auto list = *MakeCallbacks(
      JobWith(Saving({{"filepath", "./a//x.keras"}, {"verbose", 1}})),
      TestContext());
  const Decision decision = EndEpoch(*list, 0, {{"loss", 1}});
  ASSERT_THAT(decision.saves, SizeIs(1));
  const auto& save = std::get<SaveModel>(decision.saves[0]);
  EXPECT_EQ(save.path, "a/x.keras");
  EXPECT_THAT(save.message, HasSubstr("to ./a//x.keras"));
}

TEST(ModelCheckpoint, RefusesATemplateThatCannotBeFilledIn) {
  EXPECT_THAT(SavingError({{"filepath", "{batch:02d}.keras"}}),
              HasSubstr("callbacks[0].filepath: \"{batch:02d}.keras\": "
                        "{batch:02d}: there is no value of this name"));
  EXPECT_THAT(SavingError({{"filepath", "{val_loss:2d}.keras"}}),
              HasSubstr("expected one such as {val_loss:.2f}"));
  EXPECT_EQ(SavingError({{"filepath", "{learning_rate}-{val_mae}.keras"}}), "");
  auto list = *MakeCallbacks(
      JobWith(Saving({{"filepath", "{val_loss:.2f}.keras"}})), TestContext());
  const Decision decision = EndEpoch(*list, 2, {{"loss", 1}});
  EXPECT_THAT(decision.saves, IsEmpty());
  EXPECT_EQ(decision.failure.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(decision.failure.message(),
            "ModelCheckpoint: filepath: \"{val_loss:.2f}.keras\" after epoch "
            "3: {val_loss:.2f}: there is no value of this name; the logs have "
            "loss");
}

TEST(ModelCheckpoint, RefusesNamesThatTheLogsOfTheJobDoNotHave) {
  CallbackContext context = TestContext();
  context.log_names = {"loss", "mae"};
  context.has_validation = false;
  const auto error = [&](const json& config) {
    const auto made = MakeCallbacks(JobWith(Saving(config)), context);
    return made.ok() ? "" : std::string(made.status().message());
  };
  EXPECT_EQ(error({{"filepath", "m{val_loss:.2f}.keras"}}),
            "callbacks[0].filepath: \"m{val_loss:.2f}.keras\": "
            "{val_loss:.2f}: there is no value of this name; expected "
            "epoch,loss,mae,learning_rate (the job has no validation)");
  EXPECT_EQ(error({{"filepath", "{epoch}-{mae}.keras"}}), "");
  EXPECT_THAT(error({{"filepath", "{epok}.keras"}}),
              HasSubstr("{epok}: there is no value of this name; expected "
                        "epoch,"));
  EXPECT_THAT(error({{"filepath", "{val_loss}.keras"}, {"save_freq", 2}}),
              HasSubstr("; expected epoch,batch,loss,mae"));
  v1::Job job;
  EXPECT_FALSE(ContextOf(job, {}).has_validation);
  job.mutable_data()->set_validation_split(0.25);
  EXPECT_TRUE(ContextOf(job, {}).has_validation);
  job.mutable_data()->clear_validation_split();
  job.mutable_data()->mutable_validation();
  EXPECT_TRUE(ContextOf(job, {}).has_validation);
}

TEST(ModelCheckpoint, RefusesOtherFrequencies) {
  for (const json& good : {json("epoch"), json(1), json(100), json(2.0)}) {
    EXPECT_EQ(SavingError({{"filepath", "x.keras"}, {"save_freq", good}}), "");
  }
  for (const json& bad : {json(0), json(-3)}) {
    EXPECT_THAT(SavingError({{"filepath", "x.keras"}, {"save_freq", bad}}),
                HasSubstr(absl::StrCat("callbacks[0].save_freq: got ",
                                       bad.dump(), "; expected `epoch` or")));
  }
  EXPECT_THAT(SavingError({{"filepath", "x.keras"}, {"save_freq", 2.5}}),
              HasSubstr("callbacks[0].save_freq: "));
  for (const json& bad : {json("batch"), json("5"), json(true), json({3})}) {
    EXPECT_THAT(SavingError({{"filepath", "x.keras"}, {"save_freq", bad}}),
                HasSubstr("; expected `epoch` or a whole number of batches "
                          "from 1 to "));
  }
}

TEST(ModelCheckpoint, BatchesHaveOtherNamesInTheTemplate) {
  const auto error = [](const char* file) {
    return SavingError({{"filepath", file}, {"save_freq", 2}});
  };
  EXPECT_EQ(error("{epoch}-{batch:02d}-{loss:.2f}-{auc}.keras"), "");
  for (const char* const name : {"{val_loss}", "{learning_rate}"}) {
    EXPECT_THAT(error((std::string(name) + ".keras").c_str()),
                HasSubstr(std::string(name) + ": there is no value of this"));
  }
  auto list = *MakeCallbacks(
      JobWith(Saving({{"filepath", "{auc}.keras"}, {"save_freq", 2}})),
      TestContext());
  const Decision decision =
      list->BatchEnded({.epoch = 2, .batch = 6, .count = 2, .logs = {}});
  EXPECT_THAT(decision.saves, IsEmpty());
  EXPECT_EQ(decision.failure.message(),
            "ModelCheckpoint: filepath: \"{auc}.keras\" after batch 7 of epoch "
            "3: {auc}: there is no value of this name; the logs have ");
}

// So many steps.
BatchEnd GroupOf(int64_t count) {
  BatchEnd end;
  end.count = count;
  return end;
}

TEST(ModelCheckpoint, AsksForGroupsThatEndWhereItSaves) {
  const auto make = [](int64_t frequency) {
    return *MakeCallbacks(
        JobWith(Saving({{"filepath", "x.keras"}, {"save_freq", frequency}})),
        TestContext());
  };
  auto list = make(10);
  EXPECT_TRUE(list->hears_batches());
  EXPECT_EQ(list->steps_to_save(), 10);
  EXPECT_THAT(list->BatchEnded(GroupOf(7)).saves, IsEmpty());
  EXPECT_EQ(list->steps_to_save(), 3);
  const json saved = json::parse(list->Save().dump());
  // A resumed job may have another frequency.
  auto other = make(5);
  ASSERT_TRUE(other->Restore(saved, "callbacks").ok());
  EXPECT_EQ(other->steps_to_save(), 1);
  EXPECT_THAT(other->BatchEnded(GroupOf(1)).saves, SizeIs(1));
  EXPECT_THAT(list->BatchEnded(GroupOf(3)).saves, SizeIs(1));
  EXPECT_EQ(list->steps_to_save(), 10);
  // A larger group, of which only the last step is known.
  EXPECT_THAT(list->BatchEnded(GroupOf(25)).saves, SizeIs(1));
  EXPECT_EQ(list->steps_to_save(), 10);
  EXPECT_EQ((*MakeCallbacks(JobWith(Saving({{"filepath", "x.keras"}})),
                            TestContext()))
                ->steps_to_save(),
            std::nullopt);
}

TEST(ModelCheckpoint, RestoresOnlyWhatItSaves) {
  const v1::Job job =
      JobWith(Saving({{"filepath", "x.keras"}, {"save_freq", 3}}));
  const auto restore = [&](const json& state) {
    const auto list = *MakeCallbacks(job, TestContext());
    return list->Restore(
        json::array({{{"class_name", "ModelCheckpoint"}, {"state", state}}}),
        "callbacks");
  };
  EXPECT_TRUE(restore({{"best", 0.5}, {"batches", 2}}).ok());
  EXPECT_TRUE(restore({{"best", 0.5}}).ok()) << "of an earlier release";
  for (const json& bad : {json(-1), json("2"), json(1.5), json(1e30)}) {
    EXPECT_EQ(restore({{"best", nullptr}, {"batches", bad}}).code(),
              absl::StatusCode::kDataLoss)
        << bad;
  }
}

}  // namespace
}  // namespace paceline
