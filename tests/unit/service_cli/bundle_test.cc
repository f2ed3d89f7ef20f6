#include "coordinator/cli/service/bundle.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/identity/sha256.h"
#include "coordinator/cli/service/submission.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string MessageOf(const absl::StatusOr<JobBundle>& bundle) {
  return std::string(bundle.status().message());
}

class BundleTest : public ::testing::Test {
 protected:
  BundleTest() {
    std::filesystem::remove_all(folder_);
    Write("data/x.npy", "features");
    Write("y.npy", "labels");
  }

  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path full = folder_ + "/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << content;
  }
  // A job whose data has these files.
  std::string WriteJob(const std::string& features, const std::string& labels,
                       const std::string& name = "mine.yaml") {
    Write(name, absl::StrCat(R"(strategy: parameter_server
cluster: {ps: 1, worker: 3}
model:
  layers:
    - Input: {shape: [4]}
    - Dense: {units: 2}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: SGD
data:
  train:
    idx:
      features: )",
                             features, "\n      labels: ", labels,
                             "\nbatch_size_per_replica: 2\nepochs: 1\n"));
    return folder_ + "/" + name;
  }
  std::vector<std::string> PathsOf(const JobBundle& bundle) {
    std::vector<std::string> paths;
    for (const BundledFile& each : bundle.files) {
      paths.push_back(each.file.path());
    }
    return paths;
  }

  const std::string folder_ = ::testing::TempDir() + "bundle_test";
};

TEST_F(BundleTest, FilesBesideTheJobGoWithIt) {
  const auto bundle = BundleJob(WriteJob("data/x.npy", "./data/../y.npy"), {});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(PathsOf(*bundle), ElementsAre("job.yaml", "data/x.npy", "y.npy"));
  EXPECT_EQ(bundle->files[0].file.sha256(), Sha256Hex(bundle->text));
  EXPECT_EQ(bundle->files[1].file.sha256(), Sha256Hex("features"));
  EXPECT_EQ(bundle->files[1].file.size_bytes(), 8);
  EXPECT_EQ(bundle->files[1].path, folder_ + "/data/x.npy");
  // It is read as job.yaml, and keeps its name.
  EXPECT_THAT(bundle->overrides, ElementsAre("name=\"mine\""));
}

TEST_F(BundleTest, FilesWithAbsolutePathsMayBeElsewhere) {
  const auto bundle = BundleJob(WriteJob("/no/such/x.npy", "y.npy"),
                                {"name=other", "epochs=2"});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(PathsOf(*bundle), ElementsAre("job.yaml", "y.npy"));
  EXPECT_THAT(bundle->overrides, ElementsAre("name=other", "epochs=2"));
}

TEST_F(BundleTest, AFolderGoesWithItsFiles) {
  Write("pets/cats/a.jpg", "a cat");
  Write("pets/dogs/b.jpg", "a dog");
  const std::string job = WriteJob("data/x.npy", "y.npy");
  const auto bundle = BundleJob(job, {"data.train={images: {folder: pets}}"});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(PathsOf(*bundle),
              ElementsAre("job.yaml", "pets/cats/a.jpg", "pets/dogs/b.jpg"));
  EXPECT_THAT(MessageOf(BundleJob(job, {"data.train={images: {folder: .}}"})),
              HasSubstr("is the job's folder"));
  EXPECT_THAT(MessageOf(BundleJob(job, {"data.train={images: {folder: no}}"})),
              HasSubstr("data.train.images.folder: no/: "));
}

TEST_F(BundleTest, OverridesNameFilesToo) {
  const auto bundle = BundleJob(WriteJob("/no/such/x.npy", "y.npy"),
                                {"data.train.idx.features=data/x.npy"});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(PathsOf(*bundle), ElementsAre("job.yaml", "data/x.npy", "y.npy"));
}

TEST_F(BundleTest, ThePathOfTheJobMayBeRelative) {
  const std::string job = WriteJob("data/x.npy", "y.npy");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const auto bundle = BundleJob("mine.yaml", {});
  std::filesystem::current_path(before);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(PathsOf(*bundle), ElementsAre("job.yaml", "data/x.npy", "y.npy"));
}

TEST_F(BundleTest, ACheckpointOfTensorFlowIsSeveralFiles) {
  Write("w/model.index", "index");
  Write("w/model.data-00000-of-00001", "data");
  Write("w/model2.index", "another");
  const auto bundle =
      BundleJob(WriteJob("data/x.npy", "y.npy"), {"weights=w/model"});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(PathsOf(*bundle), ElementsAre("job.yaml", "data/x.npy",
                                            "w/model.data-00000-of-00001",
                                            "w/model.index", "y.npy"));
}

TEST_F(BundleTest, FilesOfModelsGoWithIt) {
  Write("model.json", R"({"class_name": "Sequential", "config": {"name": "m",
    "layers": [
      {"class_name": "InputLayer",
       "config": {"batch_shape": [null, 4], "dtype": "float32", "name": "i"}},
      {"class_name": "Dense", "config": {"name": "d", "units": 2}}]}})");
  for (const char* model :
       {"model=model.json",
        "model={layers: [{Input: {shape: [4]}}, {Model: {path: "
        "model.json}}]}"}) {
    const auto bundle = BundleJob(WriteJob("/data/x", "y.npy"), {model});
    ASSERT_TRUE(bundle.ok()) << model << bundle.status();
    EXPECT_THAT(PathsOf(*bundle),
                ElementsAre("job.yaml", "model.json", "y.npy"));
  }
}

TEST_F(BundleTest, UrlsDoNotTravel) {
  Write("y.npy", "labels");
  const auto bundle = BundleJob(WriteJob("https://host/x.npy", "y.npy"), {});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_THAT(PathsOf(*bundle), ElementsAre("job.yaml", "y.npy"));
}

TEST_F(BundleTest, PathsThatLeaveTheFolderAreRefused) {
  const std::string job = WriteJob("data/../../x.npy", "y.npy");
  const auto bundle = BundleJob(job, {});
  EXPECT_EQ(bundle.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bundle.status().message(),
            job +
                ":12: data.train.idx.features: data/../../x.npy is not below "
                "the job's folder; expected a file below the job file's "
                "folder, an absolute path below a --data folder of the "
                "daemons, or a URL that they allow");
}

TEST_F(BundleTest, AFileMayNotHaveTheNameOfTheJob) {
  Write("job.yaml", "data");
  EXPECT_THAT(
      MessageOf(BundleJob(WriteJob("job.yaml", "y.npy"), {})),
      HasSubstr("features: job.yaml would be job.yaml, as which the job"));
}

TEST_F(BundleTest, FilesThatAreMissingAreErrorsWithTheirLine) {
  const std::string job = WriteJob("data/none.npy", "y.npy");
  const auto bundle = BundleJob(job, {});
  EXPECT_EQ(bundle.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MessageOf(bundle),
              StartsWith(job + ":12: data.train.idx.features: "));
}

TEST_F(BundleTest, LargeFilesAreRefused) {
  const auto bundle = BundleJob(WriteJob("data/x.npy", "y.npy"), {}, 10);
  EXPECT_EQ(bundle.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(MessageOf(bundle),
              HasSubstr("the job's files have 14 B, of which data/x.npy has 8 "
                        "B; expected at most 10 B: put larger data below a "
                        "--data folder"));
}

TEST_F(BundleTest, ErrorsOfTheJobAreThoseOfARun) {
  Write("bad.yaml", "strategy: parameter_server\nmodle: 1\n");
  EXPECT_THAT(MessageOf(BundleJob(folder_ + "/bad.yaml", {})),
              StartsWith(folder_ + "/bad.yaml:"));
  EXPECT_EQ(BundleJob(folder_ + "/none.yaml", {}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(BundleTest, TheSubmissionHasAGroupOfEachType) {
  const auto bundle = BundleJob(WriteJob("data/x.npy", "y.npy"), {});
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  SubmitOptions options;
  options.worker = {.cores = "2.5",
                    .memory = "4GiB",
                    .gpus = 1,
                    .labels = {"zone=b", "gpu=a100"}};
  options.timeout = "1h";
  const auto submission = MakeSubmission(options, *bundle);
  ASSERT_TRUE(submission.ok()) << submission.status();
  EXPECT_EQ(submission->name(), "mine");
  EXPECT_EQ(submission->idempotency_key().size(), 32);
  EXPECT_NE(submission->idempotency_key(),
            MakeSubmission(options, *bundle)->idempotency_key());
  EXPECT_EQ(submission->timeout_micros(), 3'600'000'000);
  ASSERT_EQ(submission->groups_size(), 2);
  EXPECT_EQ(submission->groups(0).type(), v1::TASK_TYPE_PS);
  EXPECT_EQ(submission->groups(0).count(), 1);
  EXPECT_EQ(submission->groups(0).each().millicores(), 1000);
  EXPECT_EQ(submission->groups(1).type(), v1::TASK_TYPE_WORKER);
  EXPECT_EQ(submission->groups(1).count(), 3);
  EXPECT_EQ(submission->groups(1).each().millicores(), 2500);
  EXPECT_EQ(submission->groups(1).each().memory_bytes(), uint64_t{4} << 30);
  EXPECT_EQ(submission->groups(1).each().gpus(), 1);
  EXPECT_EQ(submission->groups(1).labels().at("zone"), "b");
  EXPECT_EQ(submission->leader().millicores(), 0);
  EXPECT_EQ(submission->files_size(), 3);
  EXPECT_THAT(submission->overrides(), ElementsAre("name=\"mine\""));
  options.worker.labels = {"zone"};
  EXPECT_EQ(MakeSubmission(options, *bundle).status().message(),
            "--worker-label: \"zone\"; expected KEY=VALUE without spaces");
}

}  // namespace
}  // namespace paceline
