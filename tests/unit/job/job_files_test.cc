// The files and URLs that a job names.
#include "common/job/job_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/job/job_fingerprint.h"
#include "common/job/job_reader.h"
#include "google/protobuf/util/message_differencer.h"
#include "tests/unit/job/fashion_job.h"

namespace paceline {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

// The first error of the job with this override.
std::string ErrorWith(const std::string& override) {
  return std::string(
      ReadFashion(kFashionJob, {override}, {}).status().message());
}

TEST(JobFiles, ChecksThatFilesAreThere) {
  const absl::Status status = ReadFashion(kFashionJob, {}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("/jobs/fashion.yaml:19: data.train.idx.features: "
                         "/jobs/images.gz"));
  EXPECT_THAT(
      std::string(ReadFashion(kFashionJob, {"data.train.idx.features=/tmp"}, {})
                      .status()
                      .message()),
      HasSubstr("data.train.idx.features: /tmp: expected a regular file"));
  EXPECT_EQ(ReadJobFile("/nowhere/job.yaml", {}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(JobFiles, DataMayBeUrlsWhichStay) {
  const auto job =
      ReadFashion(kFashionJob,
                  {"data.train.idx.features=s3://bucket/images.gz",
                   "data.train.idx.labels=https://host/a/labels.gz?key=x"},
                  {});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->data().train().idx().features(), "s3://bucket/images.gz");
  EXPECT_EQ(job->data().train().idx().labels(),
            "https://host/a/labels.gz?key=x");
  EXPECT_EQ(JobFingerprint(*job), JobFingerprint(*ReadFashion(kFashionJob)));
}

TEST(JobFiles, RefusesBadUrls) {
  EXPECT_THAT(ErrorWith("data.train.idx.features=ftp://host/images.gz"),
              StartsWith("/jobs/fashion.yaml: data.train.idx.features: "
                         "\"ftp://host/images.gz\": expected a path, or "
                         "http://"));
  EXPECT_THAT(ErrorWith("data.train.idx.features=https://host/a/"),
              HasSubstr("expected the name of a file"));
  EXPECT_THAT(ErrorWith("weights=https://host/model.keras"),
              HasSubstr("weights: \"https://host/model.keras\": expected a "
                        "path; only the files of `data`"));
  EXPECT_THAT(ErrorWith("model=https://host/model.keras"),
              HasSubstr("model: \"https://host/model.keras\": expected a "
                        "path; only"));
}

TEST(JobFiles, AreThoseOfAllSetsOfExamples) {
  v1::Job job = *ReadFashion(absl::StrCat(
      absl::StrReplaceAll(kFashionJob, {{"batch_size_per_replica: 64", ""}}),
      "  test: {idx: {features: f, labels: ../l}}\nglobal_batch_size: 9"));
  std::vector<std::pair<std::string, std::string>> files;
  for (const JobFile& file : FilesOf(job)) {
    files.emplace_back(file.field.text(), file.path);
  }
  EXPECT_THAT(files,
              ElementsAre(Pair("data.train.idx.features", "/jobs/images.gz"),
                          Pair("data.train.idx.labels", "/data/labels.gz"),
                          Pair("data.test.idx.features", "/jobs/f"),
                          Pair("data.test.idx.labels", "/l")));

  v1::Job changed = job;
  ChangeFiles(changed, [](std::string& path) { path += "!"; });
  EXPECT_EQ(changed.data().test().idx().labels(), "/l!");
  ChangeFiles(changed, [](std::string& path) { path.pop_back(); });
  EXPECT_TRUE(MessageDifferencer::Equals(changed, job));
}

TEST(JobFiles, AsksBeforeItOpensTheModelOfAJob) {
  JobReaderOptions options;
  options.may_read = [](const JobFile& file) {
    return absl::PermissionDeniedError(file.path + " is not for this job");
  };
  const absl::Status model =
      ReadJob("model: /nowhere/secret.json\n", "/jobs/job.yaml", {}, options)
          .status();
  EXPECT_TRUE(absl::IsPermissionDenied(model)) << model;
  EXPECT_EQ(
      model.message(),
      "/jobs/job.yaml:1: model: /nowhere/secret.json is not for this job");
  const absl::Status inner =
      ReadJob("model: {layers: [{Model: {path: ../base.json}}]}\n",
              "/jobs/job.yaml", {}, options)
          .status();
  EXPECT_TRUE(absl::IsPermissionDenied(inner)) << inner;
  EXPECT_NE(inner.message().find("/base.json is not for this job"),
            std::string::npos)
      << inner;
}

// Else the file that the job itself names would be needed.
TEST(JobFiles, OverridesNameOtherFilesOfInnerModels) {
  JobReaderOptions options;
  options.may_read = [](const JobFile& file) {
    return absl::PermissionDeniedError(file.path + " is not for this job");
  };
  const absl::Status other =
      ReadJob("model: {layers: [{Model: {path: base.json}}]}\n",
              "/jobs/job.yaml",
              {"model.layers[0].Model.path=/nowhere/other.json"}, options)
          .status();
  EXPECT_THAT(std::string(other.message()),
              ::testing::HasSubstr("/nowhere/other.json is not for this job"));
}

}  // namespace
}  // namespace paceline
