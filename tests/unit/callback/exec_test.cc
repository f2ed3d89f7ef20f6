// Exec: what a program gets at each event, and what its answer does.
#include "common/callback/exec.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/callback/make_callbacks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json ExecOn(const std::vector<std::string>& events) {
  return json::array(
      {{{"TerminateOnNaN", json::object()}},
       {{"Exec", {{"command", {"python3", "ask.py"}}, {"on", events}}}}});
}

std::unique_ptr<CallbackList> ListOf(const std::vector<std::string>& events) {
  auto made = MakeCallbacks(JobWith(ExecOn(events)), TestContext());
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

std::vector<RunCommand> RunsOf(const Decision& decision) {
  std::vector<RunCommand> runs;
  for (const CallbackOutput& output : decision.outputs) {
    if (const auto* run = std::get_if<RunCommand>(&output)) {
      runs.push_back(*run);
    }
  }
  return runs;
}

std::vector<std::string> InputsOf(const Decision& decision) {
  std::vector<std::string> inputs;
  for (const RunCommand& run : RunsOf(decision)) inputs.push_back(run.input);
  return inputs;
}

TEST(Exec, GetsEachEventOnALine) {
  const auto list =
      ListOf({"train_begin", "epoch_begin", "train_batch_begin",
              "train_batch_end", "test_begin", "test_batch_begin",
              "test_batch_end", "test_end", "epoch_end", "train_end"});
  EXPECT_THAT(InputsOf(list->TrainingBegan()),
              ElementsAre("{\"event\":\"train_begin\",\"logs\":{}}\n"));
  EXPECT_THAT(InputsOf(list->EpochBegan(
                  {.epoch = 1, .learning_rate = 0.5, .steps = 10})),
              ElementsAre("{\"event\":\"epoch_begin\",\"epoch\":1,\"step\":10,"
                          "\"learning_rate\":0.5,\"logs\":{}}\n"));
  EXPECT_THAT(
      InputsOf(list->BatchBegan(
          {.epoch = 1, .batch = 0, .steps = 10, .learning_rate = 0.5})),
      ElementsAre("{\"event\":\"train_batch_begin\",\"epoch\":1,\"batch\":0,"
                  "\"step\":10,\"learning_rate\":0.5,\"logs\":{}}\n"));
  EXPECT_THAT(InputsOf(list->BatchEnded({.epoch = 1,
                                         .batch = 3,
                                         .count = 4,
                                         .steps = 14,
                                         .logs = {{"loss", 2}},
                                         .learning_rate = 0.5})),
              ElementsAre("{\"event\":\"train_batch_end\",\"epoch\":1,"
                          "\"batch\":3,\"count\":4,\"step\":14,"
                          "\"learning_rate\":0.5,\"logs\":{\"loss\":2.0}}\n"));
  EXPECT_THAT(InputsOf(list->ValidationBegan(1)),
              ElementsAre("{\"event\":\"test_begin\",\"epoch\":1,"
                          "\"logs\":{}}\n"));
  EXPECT_THAT(InputsOf(list->ValidationBatchBegan(1, 0)),
              ElementsAre("{\"event\":\"test_batch_begin\",\"epoch\":1,"
                          "\"batch\":0,\"logs\":{}}\n"));
  EXPECT_THAT(
      InputsOf(list->ValidationBatchEnded(
          {.epoch = 1, .batch = 1, .count = 2, .logs = {{"loss", 3}}})),
      ElementsAre("{\"event\":\"test_batch_end\",\"epoch\":1,\"batch\":1,"
                  "\"count\":2,\"logs\":{\"loss\":3.0}}\n"));
  EXPECT_THAT(InputsOf(list->ValidationEnded(1, {{"loss", NAN}})),
              ElementsAre("{\"event\":\"test_end\",\"epoch\":1,"
                          "\"logs\":{\"loss\":\"nan\"}}\n"));
  EXPECT_THAT(InputsOf(list->EpochEnded({.epoch = 1,
                                         .logs = {{"loss", 2}, {"val_loss", 3}},
                                         .learning_rate = 0.5,
                                         .steps = 20})),
              ElementsAre("{\"event\":\"epoch_end\",\"epoch\":1,\"step\":20,"
                          "\"learning_rate\":0.5,\"logs\":{\"loss\":2.0,"
                          "\"val_loss\":3.0}}\n"));
  const std::vector<RunCommand> last = RunsOf(list->TrainingEnded());
  ASSERT_EQ(last.size(), 1);
  EXPECT_EQ(last[0].input,
            "{\"event\":\"train_end\",\"logs\":{\"loss\":2.0,"
            "\"val_loss\":3.0}}\n");
  EXPECT_THAT(last[0].command, ElementsAre("python3", "ask.py"));
  EXPECT_EQ(last[0].timeout, absl::Seconds(60));
  EXPECT_EQ(last[0].callback, 1);
  EXPECT_TRUE(last[0].is_awaited);
}

TEST(Exec, HearsOnlyWhatItAsksFor) {
  const auto list = ListOf({"epoch_begin"});
  EXPECT_FALSE(list->hears_batches());
  EXPECT_THAT(InputsOf(list->TrainingBegan()), ElementsAre());
  EXPECT_THAT(InputsOf(list->EpochEnded({})), ElementsAre());
  EXPECT_THAT(InputsOf(list->TrainingEnded()), ElementsAre());
}

// The job does not wait for a slow program, and the program misses no step.
TEST(Exec, HasOneOpenEventOfBatches) {
  const auto list = ListOf({"train_batch_end"});
  EXPECT_TRUE(list->hears_batches());
  const std::vector<RunCommand> first = RunsOf(
      list->BatchEnded({.batch = 1, .count = 2, .steps = 2, .logs = {}}));
  ASSERT_EQ(first.size(), 1);
  EXPECT_FALSE(first[0].is_awaited);
  EXPECT_THAT(RunsOf(list->BatchEnded(
                  {.batch = 4, .count = 3, .steps = 5, .logs = {}})),
              ElementsAre());
  ASSERT_TRUE(list->Answered(first[0], "").ok());
  const std::vector<std::string> next = InputsOf(
      list->BatchEnded({.batch = 5, .count = 1, .steps = 6, .logs = {}}));
  ASSERT_EQ(next.size(), 1);
  EXPECT_THAT(next[0], HasSubstr("\"batch\":5,\"count\":4,\"step\":6"));
}

// Each name has an event of its own open, and counts its own steps.
TEST(Exec, HasOneOpenEventOfEachName) {
  const auto list = ListOf({"train_batch_begin", "train_batch_end",
                            "test_batch_begin", "test_batch_end"});
  EXPECT_TRUE(list->hears_validation_batches());
  const auto begin = [&](int64_t batch) {
    return RunsOf(list->BatchBegan({.batch = batch}));
  };
  const auto validated = [&](int64_t batch, int64_t count) {
    return RunsOf(list->ValidationBatchEnded(
        {.batch = batch, .count = count, .logs = {}}));
  };
  const std::vector<RunCommand> first = begin(0);
  ASSERT_EQ(first.size(), 1);
  EXPECT_FALSE(first[0].is_awaited);
  EXPECT_EQ(RunsOf(list->BatchEnded({.count = 2, .logs = {}})).size(), 1);
  EXPECT_THAT(begin(2), ElementsAre());
  ASSERT_TRUE(list->Answered(first[0], "").ok());
  EXPECT_EQ(begin(4).size(), 1);
  EXPECT_EQ(RunsOf(list->ValidationBatchBegan(0, 0)).size(), 1);
  EXPECT_THAT(RunsOf(list->ValidationBatchBegan(0, 2)), ElementsAre());
  const std::vector<RunCommand> end = validated(1, 2);
  ASSERT_EQ(end.size(), 1);
  EXPECT_FALSE(end[0].is_awaited);
  EXPECT_THAT(validated(4, 3), ElementsAre());
  ASSERT_TRUE(list->Answered(end[0], "").ok());
  const std::vector<RunCommand> next = validated(5, 1);
  ASSERT_EQ(next.size(), 1);
  EXPECT_THAT(next[0].input, HasSubstr("\"batch\":5,\"count\":4"));
  // Those of another validation do not count.
  EXPECT_THAT(validated(7, 2), ElementsAre());
  list->ValidationBegan(1);
  ASSERT_TRUE(list->Answered(next[0], "").ok());
  const std::vector<RunCommand> other = validated(0, 1);
  ASSERT_EQ(other.size(), 1);
  EXPECT_THAT(other[0].input, HasSubstr("\"batch\":0,\"count\":1"));
}

class ExecAnswerTest : public ::testing::Test {
 protected:
  absl::StatusOr<Decision> Answer(const absl::StatusOr<std::string>& output) {
    const std::vector<RunCommand> runs = RunsOf(list_->EpochEnded({}));
    EXPECT_EQ(runs.size(), 1);
    return list_->Answered(runs[0], output);
  }
  std::string ErrorOf(const std::string& output) {
    return std::string(Answer(output).status().message());
  }

  const std::unique_ptr<CallbackList> list_ = ListOf({"epoch_end"});
};

TEST_F(ExecAnswerTest, StopsAndSetsTheRate) {
  const auto decision = Answer(
      "rate: 0.1\nand more\n{\"stop_training\": true, \"learning_rate\": "
      "0.25}\n\n");
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_TRUE(decision->stops_training);
  EXPECT_EQ(decision->learning_rate, 0.25);
  ASSERT_EQ(decision->outputs.size(), 1);
  EXPECT_EQ(std::get<ShowMessage>(decision->outputs[0]).text,
            "rate: 0.1\nand more");
}

// As Python's json.dumps(answer, indent=2) prints it.
TEST_F(ExecAnswerTest, MayHaveSeveralLines) {
  for (const char* const output :
       {"first\n{\n  \"stop_training\": true\n}\n",
        "first\n{\"learning_rate\": null,\n \"stop_training\": true}",
        "first\n{\n\"stop_training\":\n true\n  }"}) {
    const auto decision = Answer(output);
    ASSERT_TRUE(decision.ok()) << decision.status();
    EXPECT_TRUE(decision->stops_training) << output;
    ASSERT_EQ(decision->outputs.size(), 1);
    EXPECT_EQ(std::get<ShowMessage>(decision->outputs[0]).text, "first");
  }
  // No answer: nothing that looks like an object on lines of its own.
  for (const char* const output :
       {"a {\n}", "{epoch 3}\nrates: {a}", "{'a': 1,\n 'b': 2}", "}"}) {
    const auto decision = Answer(output);
    ASSERT_TRUE(decision.ok()) << decision.status();
    EXPECT_EQ(decision->outputs.size(), 1) << output;
  }
  EXPECT_THAT(ErrorOf("{\n  \"stop\": true\n}"), HasSubstr("\"stop\""));
  EXPECT_THAT(ErrorOf("text\n{\n  'stop_training': True\n}"),
              HasSubstr("; its last lines: {"));
}

TEST_F(ExecAnswerTest, NeedNotBeThere) {
  for (const char* output :
       {"", "\n", "{}", "{\"learning_rate\": null}", "  {} \n"}) {
    const auto decision = Answer(output);
    ASSERT_TRUE(decision.ok()) << decision.status();
    EXPECT_FALSE(decision->stops_training);
    EXPECT_FALSE(decision->learning_rate);
    EXPECT_TRUE(decision->outputs.empty());
  }
  const auto message = Answer("{}\nonly a message");
  ASSERT_TRUE(message.ok());
  ASSERT_EQ(message->outputs.size(), 1);
}

TEST_F(ExecAnswerTest, IsRefusedIfItIsNotUnderstood) {
  const std::string where =
      "callbacks[1]: Exec: the command \"python3 ask.py\"";
  for (const auto& [output, reason] :
       std::vector<std::pair<std::string, std::string>>{
           {"{'stop_training': True}", "answer: "},
           {"{\"stop_training\": 1}", "answer.stop_training: "},
           {"{\"stop\": true}", "\"stop\""},
           {"{\"learning_rate\": -1}", "answer.learning_rate: "},
           {"{\"learning_rate\": 1e39}", "answer.learning_rate: "},
           {"{\"learning_rate\": NaN}", "answer: "},
           {"{\"learning_rate\": \"0.1\"}", "answer.learning_rate: "},
           {"{\"stop_training\": true, \"stop_training\": false}",
            "stop_training"},
           {"{" + std::string(100000, '['), "answer: "},
           {"{\"a\": " + std::string(5000, '['), "answer: "},
           {"{\x1b[2J\xff}", "its last line: {\\x1b[2J\\xff}"}}) {
    EXPECT_THAT(ErrorOf(output), HasSubstr(where));
    EXPECT_THAT(ErrorOf(output), HasSubstr(reason));
    EXPECT_LT(ErrorOf(output).size(), 1000);
  }
}

TEST_F(ExecAnswerTest, NamesTheCommandThatFailed) {
  const auto failed =
      Answer(absl::FailedPreconditionError("exit code 3; it said: no"));
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(failed.status().message(),
            "callbacks[1]: Exec: the command \"python3 ask.py\": exit code 3; "
            "it said: no");
}

TEST(Exec, SetsNoRateOfASchedule) {
  CallbackContext context = TestContext();
  context.has_rate_schedule = true;
  const auto list = *MakeCallbacks(JobWith(ExecOn({"epoch_end"})), context);
  const std::vector<RunCommand> runs = RunsOf(list->EpochEnded({}));
  EXPECT_TRUE(list->Answered(runs.at(0), "{\"stop_training\": true}").ok());
  EXPECT_THAT(
      std::string(
          list->Answered(runs[0], "{\"learning_rate\": 1}").status().message()),
      HasSubstr("the job's optimizer has a schedule"));
}

TEST(Exec, IsRefusedWhereItIsNotAllowed) {
  CallbackContext context = TestContext();
  context.allows_exec = false;
  EXPECT_THAT(
      std::string(MakeCallbacks(JobWith(ExecOn({"epoch_end"})), context)
                      .status()
                      .message()),
      HasSubstr("callbacks[1]: Exec runs a program, which is not allowed where "
                "this job is led; expected --allow-exec"));
}

TEST(Exec, NamesAProgramThatIsNotThere) {
  CallbackContext context = TestContext();
  std::string asked;
  context.find_program = [&](const std::string& program) {
    asked = program;
    return absl::NotFoundError("not found in PATH, /bin");
  };
  const auto made = MakeCallbacks(JobWith(ExecOn({"epoch_end"})), context);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(made.status().message(),
            "callbacks[1].command[0]: \"python3\": not found in PATH, /bin; "
            "expected a program in PATH, or its path");
  EXPECT_EQ(asked, "python3");
  context.find_program = [](const std::string&) { return absl::OkStatus(); };
  EXPECT_TRUE(MakeCallbacks(JobWith(ExecOn({"epoch_end"})), context).ok());
}

TEST(Exec, NamesFieldsThatAreWrong) {
  for (const auto& [config, reason] : std::vector<std::pair<json, std::string>>{
           {json::object(), "command"},
           {{{"command", json::array()}}, "command: expected a program"},
           {{{"command", {""}}}, "command: expected a program"},
           {{{"command", "date"}}, "command"},
           {{{"command", {std::string("a\0b", 3)}}},
            "command: expected no NUL"},
           {{{"command", {"date"}}, {"on", json::array()}}, "on: expected"},
           {{{"command", {"date"}}, {"on", {"train_end", "train_end"}}},
            "on: expected each event once"},
           {{{"command", {"date"}}, {"on", {"predict_end"}}},
            "on[0]: expected one of train_begin, "},
           {{{"command", {"date"}}, {"timeout", 0}}, "timeout"},
           {{{"command", {"date"}}, {"timeout", 1e9}}, "timeout"}}) {
    const auto made = MakeCallbacks(JobWith(json::array({{{"Exec", config}}})),
                                    TestContext());
    EXPECT_THAT(std::string(made.status().message()), HasSubstr("callbacks[0]"))
        << config;
    EXPECT_THAT(std::string(made.status().message()), HasSubstr(reason));
  }
}

}  // namespace
}  // namespace paceline
