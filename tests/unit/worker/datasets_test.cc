// How the replicas of a job divide its training set.
#include "worker/setup/datasets.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/file.h"
#include "common/job/job_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/data/epoch_order.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::SizeIs;

constexpr char kJob[] = R"(name: shards
strategy: multi_worker_mirrored
cluster: {worker: 2}
model:
  layers:
    - Input: {shape: [1]}
    - Dense: {units: 1}
loss: {MeanSquaredError: {}}
optimizer: SGD
data:
  train: {csv: {file: FILES, features: [x], labels: y}}
batch_size_per_replica: 8
)";

class DatasetsTest : public testing::Test {
 protected:
  DatasetsTest() : folder_(testing::TempDir() + "datasets_test/") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~DatasetsTest() override { std::filesystem::remove_all(folder_); }

  // The training data of a job on files with so many examples.
  absl::StatusOr<PhaseData> Open(const std::vector<int>& files,
                                 const std::vector<std::string>& overrides,
                                 int workers = 2) {
    std::vector<std::string> names;
    for (const int rows : files) {
      names.push_back(absl::StrCat(names.size(), ".csv"));
      std::string csv = "x,y\n";
      for (int i = 0; i < rows; ++i) absl::StrAppend(&csv, i, ",0\n");
      EXPECT_TRUE(WriteFileAtomically(folder_ + names.back(), csv).ok());
    }
    std::string text = kJob;
    text.replace(text.find("FILES"), 5,
                 absl::StrCat("[", absl::StrJoin(names, ", "), "]"));
    EXPECT_TRUE(WriteFileAtomically(folder_ + "job.yaml", text).ok());
    return OpenJob(overrides, workers);
  }

  // The same of the files and the job that are there.
  absl::StatusOr<PhaseData> OpenJob(const std::vector<std::string>& overrides,
                                    int workers = 2) {
    absl::StatusOr<v1::Job> job = ReadJobFile(folder_ + "job.yaml", overrides);
    if (!job.ok()) return job.status();
    absl::StatusOr<JobModel> model = MakeJobModel(*job);
    if (!model.ok()) return model.status();
    absl::StatusOr<Datasets> datasets = OpenDatasets(
        *job, *model, workers, {v1::PHASE_TRAIN}, RemoteFiles({}), ReadFence());
    if (!datasets.ok()) return datasets.status();
    datasets_ = *std::move(datasets);
    return datasets_.phases.at(v1::PHASE_TRAIN);
  }

  // How often each example comes in the first epoch.
  static std::map<int64_t, int> CountsOf(const PhaseData& data) {
    EpochOrder order(data.order);
    std::map<int64_t, int> counts;
    for (int64_t i = 0; i < order.epoch_examples(); ++i) {
      ++counts[order.ExampleAt(0, i)];
    }
    return counts;
  }

  int64_t epoch() const {
    return static_cast<int64_t>(datasets_.sizes.train_examples());
  }

  const std::string folder_;
  Datasets datasets_;
};

TEST_F(DatasetsTest, OffHasEachExampleForEachReplica) {
  for (const char* strategy :
       {"strategy=multi_worker_mirrored", "strategy=parameter_server"}) {
    SCOPED_TRACE(strategy);
    const std::vector<std::string> off = {
        strategy, "cluster={worker: 2, ps: 1}",
        "data.train.auto_shard_policy=off", "data.train.shuffle=true"};
    std::vector<std::string> all = off;
    if (all[0] != "strategy=parameter_server") all[1] = "cluster={worker: 2}";
    const auto data = Open({10, 11}, all);
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(epoch(), 42);
    EXPECT_EQ(data->order.ExamplesInEpoch(), 42);
    EXPECT_EQ(data->order.ExamplesInPass(), 21);
    for (const auto& [example, count] : CountsOf(*data)) EXPECT_EQ(count, 2);

    all.push_back("data.train.drop_remainder=true");
    const auto cut = Open({10, 11}, all);
    ASSERT_TRUE(cut.ok()) << cut.status();
    EXPECT_EQ(epoch(), 32) << "two batches of 8 a replica";
    all.push_back("steps_per_epoch=3");
    const auto some = Open({10, 11}, all);
    ASSERT_TRUE(some.ok()) << some.status();
    EXPECT_EQ(some->order.ExamplesInEpoch(), 3 * some->step_size);
  }
}

TEST_F(DatasetsTest, AnEpochHasARepeatedSetSeveralTimes) {
  const std::vector<std::string> repeat = {"data.train.repeat=3",
                                           "data.train.shuffle=true",
                                           "data.validation_split=0.1"};
  const auto data = Open({10, 11}, repeat);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(epoch(), 3 * 18);
  EXPECT_EQ(data->order.ExamplesInPass(), 18);
  const std::map<int64_t, int> counts = CountsOf(*data);
  EXPECT_THAT(counts, SizeIs(18));
  for (const auto& [example, count] : counts) EXPECT_EQ(count, 3);
  // Each pass has an order of its own.
  EpochOrder order(data->order);
  std::vector<int64_t> passes[2];
  for (int64_t i = 0; i < 36; ++i) {
    passes[i / 18].push_back(order.ExampleAt(0, i));
  }
  EXPECT_NE(passes[0], passes[1]);
}

TEST_F(DatasetsTest, ARepeatDoesNotRepeatWhatIsSplitOff) {
  ASSERT_TRUE(Open({10, 11}, {"data.train.repeat=3"}).ok());
  absl::StatusOr<v1::Job> job =
      ReadJobFile(folder_ + "job.yaml",
                  {"data.train.repeat=3", "data.validation_split=0.1"});
  ASSERT_TRUE(job.ok()) << job.status();
  const auto datasets = OpenDatasets(*job, *MakeJobModel(*job), 2,
                                     {v1::PHASE_TRAIN, v1::PHASE_VALIDATION},
                                     RemoteFiles({}), ReadFence());
  ASSERT_TRUE(datasets.ok()) << datasets.status();
  EXPECT_EQ(datasets->sizes.train_examples(), 3 * 18);
  EXPECT_EQ(datasets->sizes.validation_examples(), 3);
}

// A step of replicas with orders of their own ends where a pass does.
TEST_F(DatasetsTest, ARepeatWithOwnOrdersNeedsFullSteps) {
  for (const char* policy : {"file", "off"}) {
    SCOPED_TRACE(policy);
    std::vector<std::string> all = {
        absl::StrCat("data.train.auto_shard_policy=", policy),
        "data.train.repeat=2"};
    const auto refused = Open({10, 11}, all);
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr("data.train.repeat: expected 1, got 2, with this "
                          "auto_shard_policy"));
    all.push_back("data.train.drop_remainder=true");
    const auto data = Open({10, 11}, all);
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->order.ExamplesInEpoch() % data->step_size, 0);
    EXPECT_EQ(epoch(), data->order.ExamplesInEpoch());
    // Constructing it checks what it needs.
    EXPECT_EQ(EpochOrder(data->order).epoch_examples(), epoch());
  }
}

TEST_F(DatasetsTest, FileAndDataHaveEachExampleOnce) {
  for (const char* policy : {"file", "data", "auto"}) {
    const auto data =
        Open({10, 11}, {absl::StrCat("data.train.auto_shard_policy=", policy),
                        "data.validation_split=0.1"});
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(epoch(), 18);
    const std::map<int64_t, int> counts = CountsOf(*data);
    EXPECT_THAT(counts, SizeIs(18));
    for (const auto& [example, count] : counts) {
      EXPECT_LT(example, 18);
      EXPECT_EQ(count, 1);
    }
  }
}

TEST_F(DatasetsTest, FileNeedsAFileForEachReplica) {
  const std::string file = "data.train.auto_shard_policy=file";
  EXPECT_TRUE(Open({10, 11}, {file}).ok());
  EXPECT_EQ(
      Open({21}, {file}).status().message(),
      "data.train.auto_shard_policy: file: the examples to train on lie in 1 "
      "file, but there are 2 replicas; expected at least a file for each, or "
      "auto, data or off");
  // What validates is of the second file.
  EXPECT_THAT(std::string(Open({10, 10}, {file, "data.validation_split=0.5"})
                              .status()
                              .message()),
              HasSubstr("lie in 1 file, "));
  EXPECT_TRUE(Open({10}, {file, "cluster.worker=1"}, /*workers=*/1).ok());
  const std::vector<std::string> servers = {file, "strategy=parameter_server",
                                            "cluster={worker: 3, ps: 1}"};
  std::vector<std::string> in_step = servers;
  in_step.push_back("consistency=sync");
  EXPECT_THAT(
      std::string(Open({10, 11}, in_step, /*workers=*/3).status().message()),
      HasSubstr("lie in 2 files, but there are 3 replicas"));
  // Workers that do not step together share the files.
  const auto shared = Open({10, 11}, servers, /*workers=*/3);
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ(shared->order.sharding, Sharding::kFileAfterFile);
  EXPECT_THAT(CountsOf(*shared), SizeIs(21));
}

// A lease of a quarter of the examples is of two files at most.
TEST_F(DatasetsTest, FilesFollowEachOtherUnderParameterServers) {
  const auto data =
      Open({40, 40, 40, 40},
           {"data.train.auto_shard_policy=file", "data.train.shuffle=true",
            "strategy=parameter_server", "cluster={worker: 2, ps: 1}"});
  ASSERT_TRUE(data.ok()) << data.status();
  EpochOrder order(data->order);
  for (int64_t begin = 0; begin <= 120; begin += 8) {
    std::set<int64_t> files;
    for (int64_t i = begin; i < begin + 40; ++i) {
      files.insert(order.ExampleAt(1, i) / 40);
    }
    EXPECT_THAT(files, SizeIs(Lt(3)));
  }
}

// The file stays good while the examples stay the same, and no longer.
TEST_F(DatasetsTest, ACacheFileBelongsToItsExamples) {
  namespace fs = std::filesystem;
  const std::string cache = "data.train.cache=examples.cache";
  const auto error_of = [&](const std::vector<std::string>& overrides) {
    std::vector<std::string> all = overrides;
    all.push_back(cache);
    return std::string(OpenJob(all).status().message());
  };
  ASSERT_TRUE(Open({10, 11}, {cache}).ok());
  ASSERT_TRUE(fs::exists(folder_ + "examples.cache"));
  EXPECT_EQ(error_of({}), "");
  // What comes behind the cache.
  EXPECT_EQ(error_of({"data.train.shuffle=true", "data.train.scale=0.5",
                      "data.train.on_error=skip", "batch_size_per_replica=4",
                      "data.train.auto_shard_policy=file",
                      "data.train.drop_remainder=true"}),
            "");
  const auto refusal = testing::AllOf(
      testing::StartsWith("data.train: cache: " + folder_ + "examples.cache: "),
      HasSubstr("has the examples of another source"));
  EXPECT_THAT(error_of({"data.train.csv.na=[nothing]"}), refusal);
  EXPECT_THAT(error_of({"data.train.csv.file=[1.csv, 0.csv]"}), refusal);
  EXPECT_THAT(error_of({"data.train.csv.file=0.csv"}), refusal);
  const auto time = fs::last_write_time(folder_ + "1.csv");
  fs::last_write_time(folder_ + "1.csv", time + std::chrono::seconds(1));
  EXPECT_THAT(error_of({}), refusal);
  fs::last_write_time(folder_ + "1.csv", time);
  EXPECT_EQ(error_of({}), "");
  EXPECT_THAT(
      std::string(OpenJob({"data.train.cache=none/x"}).status().message()),
      testing::AllOf(testing::StartsWith("data.train: cache: "),
                     HasSubstr("none/x: No such file or directory")));
}

}  // namespace
}  // namespace paceline
