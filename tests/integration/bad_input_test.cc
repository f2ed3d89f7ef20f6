// Wrong use, bad jobs and bad data: exit code 2, and a message that says where.
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Expects that `process` ends with 2 and leaves nothing.
void ExpectBadInput(Process process, const std::string& message) {
  EXPECT_EQ(process.Wait(kJobLimit), 2);
  EXPECT_THAT(process.Errors(), HasSubstr(message));
  EXPECT_THAT(process.Session(), IsEmpty());
}

TEST(BadInputTest, WrongUse) {
  SmallJob job;
  ExpectBadInput(job.Coordinator({"vaildate", job.path()}),
                 "error: unknown command \"vaildate\"; did you mean "
                 "\"validate\"?");
  ExpectBadInput(job.Coordinator({}), "error: ");
  ExpectBadInput(job.Coordinator({"run"}), "JOB");
  ExpectBadInput(job.Run({"--sett", "epochs=1"}), "--sett");
  ExpectBadInput(job.Run({"--set", "epochs"}), "epochs");
}

TEST(BadInputTest, VersionAndHelp) {
  SmallJob job;
  for (const char* program : {"coordinator", "worker", "ps_server"}) {
    for (const char* option : {"--version", "--help"}) {
      Process process({.command = {ProgramPath(program), option},
                       .environment = {},
                       .output_path = job.folder() / "program"});
      EXPECT_EQ(process.Wait(kJobLimit), 0) << program << " " << option;
      EXPECT_NE(process.Output(), "") << program << " " << option;
    }
  }
}

TEST(BadInputTest, MissingJob) {
  SmallJob job;
  const std::string path = job.folder() / "none.yaml";
  ExpectBadInput(job.Coordinator({"run", path}), path);
}

TEST(BadInputTest, UnknownKeyNamesFileLineAndNearestKey) {
  SmallJob job;
  WriteText(job.path(), absl::StrReplaceAll(ReadText(job.path()),
                                            {{"epochs: 3", "epoch: 3"}}));
  Process run = job.Run();
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(), AllOf(HasSubstr(job.path() + ":"),
                                  HasSubstr("epoch"), HasSubstr("epochs")));
  EXPECT_FALSE(std::filesystem::exists(job.output_dir() + "/result.json"));
}

TEST(BadInputTest, LineOfTheField) {
  SmallJob job;
  WriteText(job.path(), absl::StrReplaceAll(ReadText(job.path()),
                                            {{"units: 16", "units: many"}}));
  // Line 11 of the job is that of the first Dense.
  ExpectBadInput(job.Run(), job.path() + ":11:");
}

TEST(BadInputTest, MissingDataFile) {
  SmallJob job;
  std::filesystem::remove(job.folder() / "train-labels");
  ExpectBadInput(job.Run(), job.folder() / "train-labels");
}

// The job is refused by a worker, with an error that has `text`.
void ExpectRefusedBeforeTheFirstStep(
    const SmallJob& job, const std::string& text,
    const std::vector<std::string>& arguments = {}) {
  Process run = job.Run(arguments);
  EXPECT_EQ(run.Wait(kJobLimit), 2) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr(text));
  const nlohmann::json result = job.Result();
  ASSERT_TRUE(result.is_object()) << "an accepted job leaves a result";
  EXPECT_EQ(result.at("state"), "FAILED");
  EXPECT_THAT(result.at("error").at("message").get<std::string>(),
              HasSubstr(text));
  EXPECT_THAT(run.Session(), IsEmpty());
}

TEST(BadInputTest, CorruptDataIsFoundBeforeTheFirstStep) {
  SmallJob job;
  const std::string path = job.folder() / "train-images";
  const std::string bytes = ReadText(path);
  WriteText(path, bytes.substr(0, bytes.size() / 2));
  ExpectRefusedBeforeTheFirstStep(job, path);
}

// A header that says far more than any file may have.
TEST(BadInputTest, AnIdxFileThatClaimsTooMuch) {
  SmallJob job;
  const std::string path = job.folder() / "train-images";
  std::string bytes = ReadText(path);
  bytes.replace(4, 12, "\x7f\xff\xff\xff\x7f\xff\xff\xff\0\0\0\1", 12);
  WriteText(path, bytes);
  ExpectRefusedBeforeTheFirstStep(
      job, path + ": dimension 1 is 2147483647, which makes more than");
}

// Nobody writes into them, so opening one would block.
TEST(BadInputTest, PipesAmongTheData) {
  SmallJob job;
  const std::filesystem::path images = job.folder() / "images";
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(images / name);
    std::filesystem::copy_file(PACELINE_SOURCE_DIR
                               "/tests/unit/image/fixtures/420.jpg",
                               images / name / "1.jpg");
  }
  const std::string pipe = images / "a" / "2.jpg";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto arguments = [](const std::string& source) {
    return std::vector<std::string>{"--set", "data.test=null", "--set",
                                    "data.train=" + source};
  };
  ExpectRefusedBeforeTheFirstStep(
      job, pipe + ": is no regular file, expected a JPEG or PNG image",
      arguments("{images: {folder: images, image_size: 8}}"));
  const std::string info = job.folder() / "dataset_info.json";
  ASSERT_EQ(mkfifo(info.c_str(), 0600), 0);
  Process run = job.Run(arguments("{tfds: {folder: ./}}"));
  EXPECT_EQ(run.Wait(kJobLimit), 2) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr(info));
}

TEST(BadInputTest, LabelsThatTheLossCannotTake) {
  for (const std::string set : {"train", "test"}) {
    SmallJob job;
    const std::string path = job.folder() / (set + "-labels");
    std::string labels = ReadText(path);
    labels.back() = 4;
    WriteText(path, labels);
    ExpectRefusedBeforeTheFirstStep(
        job, absl::StrCat("data.", set, ": ", path, ": label "));
  }
}

TEST(BadInputTest, ArraysThatTheModelDoesNotHave) {
  SmallJob job;
  ExpectRefusedBeforeTheFirstStep(
      job,
      "train-images: the features are \"left\", \"right\", expected those of "
      "the model's input: \"input_layer\"",
      {"--set",
       "data.train.idx.features={left: train-images, right: train-images}"});
}

TEST(BadInputTest, AStreamIsNotShuffled) {
  SmallJob job;
  ExpectBadInput(job.Run({"--set", "data.train.idx.stream=true"}),
                 "data.train.shuffle: expected false");
}

TEST(BadInputTest, ResumeWithoutACheckpoint) {
  SmallJob job;
  ExpectBadInput(job.Run({"--resume"}), job.output_dir() + "/checkpoint");
}

TEST(BadInputTest, WhatComesLaterIsRefusedByName) {
  SmallJob job;
  ExpectBadInput(job.Run({"--set", "callbacks=[LambdaCallback]"}),
                 "callbacks[0]: unknown callback \"LambdaCallback\"");
  ExpectBadInput(job.Run({"--set", "strategy=mirrored"}), "mirrored");
}

TEST(ValidateTest, TakesAGoodJob) {
  SmallJob job;
  Process validate = job.Coordinator({"validate", job.path()});
  EXPECT_EQ(validate.Wait(kJobLimit), 0) << validate.Errors();
  ExpectBadInput(job.Coordinator({"validate", job.path(), "--set", "epochs=0"}),
                 "epochs");
}

TEST(ValidateTest, PrintsTheClusterOfTfConfig) {
  SmallJob job;
  Process validate = job.Coordinator(
      {"validate", job.path(), "-o", "json"},
      R"({"cluster": {"chief": ["a:1"], "ps": ["b:2"], "worker": ["c:3", "d"]},
          "task": {"type": "worker", "index": 1}})");
  ASSERT_EQ(validate.Wait(kJobLimit), 0) << validate.Errors();
  const auto printed = nlohmann::json::parse(validate.Output(), nullptr, false);
  ASSERT_TRUE(printed.is_object()) << validate.Output();
  EXPECT_EQ(printed.at("cluster"),
            nlohmann::json::parse(R"({"chief": {"0": "a:1"}, "ps": {"0": "b:2"},
                                      "worker": {"0": "c:3", "1": "d:2222"}})"));
  EXPECT_EQ(printed.at("task"),
            nlohmann::json({{"type", "worker"}, {"index", 1}}));
  EXPECT_EQ(printed.at("is_chief"), false);
  EXPECT_EQ(printed.at("is_ps_coordinator"), false);
  EXPECT_EQ(printed.at("rank"), 1);
  EXPECT_EQ(printed.at("world_size"), 2);
}

TEST(ValidateTest, RefusesABadTfConfig) {
  SmallJob job;
  const auto validate = [&](const std::string& tf_config) {
    return job.Coordinator({"validate", job.path()}, tf_config);
  };
  ExpectBadInput(validate("{"), "TF_CONFIG");
  ExpectBadInput(validate(R"({"cluster": {"ps": ["a:1"], "worker": ["b"]},
                              "task": {"type": "worker", "index": 3}})"),
                 "worker");
  ExpectBadInput(validate(R"({"cluster": {"ps": ["a:x"], "worker": ["b:1"]},
                              "task": {"type": "ps", "index": 0}})"),
                 "a:x");
}

}  // namespace
}  // namespace paceline
