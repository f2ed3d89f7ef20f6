// CSVLogger against the bytes of Keras' own.
#include "common/callback/csv_logger.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json Logger(json config) {
  if (!config.contains("filename")) config["filename"] = "log.csv";
  return json::array({{{"CSVLogger", std::move(config)}}});
}

class CsvLoggerTest : public ::testing::TestWithParam<bool> {};

TEST_P(CsvLoggerTest, WritesTheBytesOfKeras) {
  const json cases = ExpectedCases("csv_logger");
  ASSERT_GE(cases.size(), 14);
  for (const json& each : cases) {
    SCOPED_TRACE(each["name"].get<std::string>());
    const json& before = each["before"];
    const auto run =
        RunCallbacks(Logger(each["config"]), each["epochs"],
                     before.is_null() ? "" : before.get<std::string>(),
                     /*is_resumed=*/GetParam());
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->written, each["written"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(AtOnceAndResumed, CsvLoggerTest, ::testing::Bool());

TEST(CsvLogger, WritesOverWhatCameAfterTheCheckpoint) {
  const v1::Job job = JobWith(Logger({}));
  auto first = *MakeCallbacks(job, TestContext());
  first->EpochEnded({.epoch = 0, .logs = {{"loss", 1}}});
  const json saved = first->Save();
  const Decision lost = first->EpochEnded({.epoch = 1, .logs = {{"loss", 2}}});
  auto second = *MakeCallbacks(job, TestContext());
  ASSERT_TRUE(second->Restore(saved, "callbacks").ok());
  const Decision again =
      second->EpochEnded({.epoch = 1, .logs = {{"loss", 3}}});
  EXPECT_EQ(std::get<WriteToFile>(lost.outputs.at(0)).offset,
            std::get<WriteToFile>(again.outputs.at(0)).offset);
  EXPECT_EQ(std::get<WriteToFile>(again.outputs.at(0)).bytes, "1,3.0,NA\r\n");
}

TEST(CsvLogger, AFileThatWasDeletedGetsItsHeaderAgain) {
  for (const bool append : {false, true}) {
    const v1::Job job = JobWith(Logger({{"append", append}}));
    int64_t size = 0;
    CallbackContext context = TestContext();
    context.output_size = [&](const std::string&) { return size; };
    auto first = *MakeCallbacks(job, context);
    first->EpochEnded({.epoch = 0, .logs = {{"loss", 1}}});
    const json saved = first->Save();
    auto second = *MakeCallbacks(job, context);
    ASSERT_TRUE(second->Restore(saved, "callbacks").ok());
    const Decision again =
        second->EpochEnded({.epoch = 1, .logs = {{"loss", 3}}});
    const auto& write = std::get<WriteToFile>(again.outputs.at(0));
    EXPECT_EQ(write.offset, 0);
    EXPECT_EQ(write.bytes, "epoch,loss,val_loss\r\n1,3.0,NA\r\n");
    // One that is there does not.
    size = 100;
    auto third = *MakeCallbacks(job, context);
    ASSERT_TRUE(third->Restore(saved, "callbacks").ok());
    const Decision next =
        third->EpochEnded({.epoch = 1, .logs = {{"loss", 3}}});
    EXPECT_EQ(std::get<WriteToFile>(next.outputs.at(0)).bytes, "1,3.0,NA\r\n");
  }
}

TEST(CsvLogger, RefusesFilesThatAreNotItsOwn) {
  for (const char* const filename :
       {"", "/tmp/log.csv", "../log.csv", "logs/../../log.csv", "history.csv",
        "./result.json", "checkpoint/log.csv"}) {
    const auto made =
        MakeCallbacks(JobWith(Logger({{"filename", filename}})), TestContext());
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument)
        << filename;
    EXPECT_THAT(std::string(made.status().message()),
                HasSubstr("callbacks[0].filename: "));
  }
  auto made = *MakeCallbacks(JobWith(Logger({{"filename", "./a//b.csv"}})),
                             TestContext());
  const Decision decision = made->EpochEnded({.logs = {{"loss", 1}}});
  EXPECT_EQ(std::get<WriteToFile>(decision.outputs.at(0)).path, "a/b.csv");
}

TEST(CsvLogger, RefusesASeparatorThatIsNoCharacter) {
  for (const char* const separator : {"", ", ", "\"", "\n", "é"}) {
    const auto made = MakeCallbacks(JobWith(Logger({{"separator", separator}})),
                                    TestContext());
    EXPECT_THAT(std::string(made.status().message()),
                HasSubstr("callbacks[0].separator: expected one ASCII"))
        << separator;
  }
}

}  // namespace
}  // namespace paceline
