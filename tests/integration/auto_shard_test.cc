// `auto_shard_policy` of the training set.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"
#include "tests/tfrecord_builder.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kShardImageBytes = 64;

std::vector<std::string> ArgumentsOf(const std::string& strategy) {
  const bool has_ps = strategy == "parameter_server";
  const bool is_one = strategy == "mirrored" || strategy == "central_storage";
  return {"--set",
          absl::StrCat("strategy=", strategy),
          "--set",
          has_ps   ? "cluster={worker: 2, ps: 1}"
          : is_one ? "cluster={worker: 1}"
                   : "cluster={worker: 2}",
          "--set",
          is_one ? "devices=2" : "devices=1"};
}

class AutoShardTest : public testing::Test {
 protected:
  // Writes the training set as files of so many examples, the last of which has
  // the rest. A record that is `damaged` fails its checksum.
  void WriteFiles(const std::vector<size_t>& sizes, size_t damaged_file = 9) {
    const std::string images = ReadText(job_.folder() / "train-images");
    const std::string labels = ReadText(job_.folder() / "train-labels");
    size_t next = 0;
    files_.clear();
    for (size_t file = 0; file <= sizes.size(); ++file) {
      const size_t end =
          file < sizes.size() ? next + sizes[file] : kTrainExamples;
      std::string records;
      for (; next < end; ++next) {
        const std::string image =
            images.substr(16 + next * kShardImageBytes, kShardImageBytes);
        records +=
            Record(ExampleOf({{"image", BytesFeature({image})},
                              {"label", Int64Feature({labels[8 + next]})}}));
      }
      if (file == damaged_file) records[records.size() - 5] ^= 1;
      files_.push_back(absl::StrCat("train-", file, ".tfrecord"));
      WriteText(job_.folder() / files_.back(), records);
    }
  }

  std::string DataWith(const std::string& policy) const {
    std::string files;
    for (const std::string& file : files_) {
      absl::StrAppend(&files, files.empty() ? "" : ", ", file);
    }
    return absl::StrCat("data.train={tfrecord: {file: [", files,
                        "], features: {feature: image, shape: [8, 8, 1]}, "
                        "labels: label}, scale: 0.00392156862745098, shuffle: "
                        "true, on_error: skip, auto_shard_policy: ",
                        policy, "}");
  }

  Process Start(const std::string& strategy, const std::string& policy,
                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = ArgumentsOf(strategy);
    all.insert(all.end(), {"--set", DataWith(policy)});
    all.insert(all.end(), more.begin(), more.end());
    return job_.Run(all);
  }

  // The result's history without times.
  nlohmann::json Train(const std::string& strategy, const std::string& policy,
                       const std::vector<std::string>& more = {}) const {
    Process run = Start(strategy, policy, more);
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    nlohmann::json history = job_.Result()["history"];
    for (nlohmann::json& epoch : history) epoch.erase("seconds");
    return history;
  }

  const SmallJob job_;
  std::vector<std::string> files_;
};

// Shards of 300 and 301 examples, as many as the workers have positions.
TEST_F(AutoShardTest, FileKeepsEachWorkerToItsFiles) {
  for (const size_t file : {1, 2}) {
    WriteFiles({150, 151, 150}, file);
    const nlohmann::json history = Train("multi_worker_mirrored", "file");
    ASSERT_EQ(history.size(), 3U);
    for (const nlohmann::json& epoch : history) {
      EXPECT_EQ(epoch["examples"], kTrainExamples);
      EXPECT_EQ(epoch["skipped_examples"], 1);
    }
    const std::string reader = file == 1 ? "worker-1" : "worker-0";
    const std::string other = file == 1 ? "worker-0" : "worker-1";
    EXPECT_THAT(job_.Log(reader),
                HasSubstr(absl::StrCat("train-", file, ".tfrecord: record ")));
    EXPECT_THAT(job_.Log(other), Not(HasSubstr("is left out")));
  }
}

TEST_F(AutoShardTest, UnevenFilesEndEachEpochTogether) {
  WriteFiles({500, 1, 60});
  for (const char* strategy : {"multi_worker_mirrored", "mirrored",
                               "central_storage", "parameter_server"}) {
    SCOPED_TRACE(strategy);
    Train(strategy, "file");
    EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
    EXPECT_GT(Column(job_.Result(), "accuracy").back(), 0.5);
  }
}

TEST_F(AutoShardTest, OffTrainsOnAllWithEachReplica) {
  WriteFiles({});
  for (const char* strategy : {"multi_worker_mirrored", "mirrored",
                               "central_storage", "parameter_server"}) {
    SCOPED_TRACE(strategy);
    Train(strategy, "off");
    EXPECT_THAT(Column(job_.Result(), "examples"), Each(2 * kTrainExamples));
  }
}

TEST_F(AutoShardTest, AutoIsData) {
  WriteFiles({301});
  const nlohmann::json history = Train("multi_worker_mirrored", "auto");
  EXPECT_EQ(history, Train("multi_worker_mirrored", "data"));
  EXPECT_NE(history, Train("multi_worker_mirrored", "file"));
}

// From the middle of the last epoch.
TEST_F(AutoShardTest, AResumeGoesOnInTheSameOrder) {
  WriteFiles({100, 50, 300});
  const std::vector<std::string> often = {
      "--set", "checkpoint={every_steps: 3, every_epochs: 0, keep: 9}"};
  for (const char* policy : {"file", "off"}) {
    SCOPED_TRACE(policy);
    const nlohmann::json whole = Train("multi_worker_mirrored", policy, often);
    // Epochs of 5 and 10 steps.
    const int steps = std::string(policy) == "file" ? 15 : 30;
    const std::string folder = job_.output_dir() + "/checkpoint";
    for (int step = steps; step > steps - 3; --step) {
      std::filesystem::remove_all(
          absl::StrCat(folder, "/step-", absl::Dec(step, absl::kZeroPad12)));
    }
    std::vector<std::string> resume = often;
    resume.push_back("--resume");
    Process others = Start("multi_worker_mirrored", policy,
                           {"--set", "cluster={worker: 3}", "--resume"});
    EXPECT_NE(others.Wait(kJobLimit), 0);
    EXPECT_THAT(others.Errors(),
                HasSubstr("data.train.auto_shard_policy: the checkpoint was "
                          "taken in the middle of an epoch whose order is "
                          "that of 2 replicas"));
    EXPECT_EQ(Train("multi_worker_mirrored", policy, resume), whole);
  }
}

TEST_F(AutoShardTest, AFileForEachReplicaIsNeeded) {
  WriteFiles({});
  Process run = Start("multi_worker_mirrored", "file");
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(),
              AllOf(HasSubstr("data.train.auto_shard_policy: file: "),
                    HasSubstr("lie in 1 file, but there are 2 replicas")));
  Train("parameter_server", "file");
  EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples))
      << "asynchronous workers take parts of one file in turn";
}

}  // namespace
}  // namespace paceline
