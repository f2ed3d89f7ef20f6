#include "common/job/job_fingerprint.h"

#include "gtest/gtest.h"
#include "paceline/v1/job.pb.h"
#include "tests/unit/job/fashion_job.h"

namespace paceline {
namespace {

TEST(JobFingerprint, TellsJobsApartButNotTheirPlaces) {
  const std::string fingerprint = JobFingerprint(*ReadFashion(kFashionJob));
  EXPECT_EQ(fingerprint.size(), 16);
  EXPECT_EQ(fingerprint, JobFingerprint(*ReadFashion(kFashionJob)));
  EXPECT_EQ(
      fingerprint,
      JobFingerprint(*ReadFashion(
          kFashionJob, {"cluster.worker=9",
                        "data.train.idx.features=/else/where/images.gz"})));
  EXPECT_NE(fingerprint, JobFingerprint(*ReadFashion(kFashionJob, {"seed=1"})));
  EXPECT_NE(fingerprint, JobFingerprint(*ReadFashion(
                             kFashionJob, {"model.layers[3].Dense.units=11"})));
  EXPECT_NE(fingerprint,
            JobFingerprint(*ReadFashion(kFashionJob,
                                        {"data.train.idx.features=other.gz"})));
}

// Evaluators compare it with that of a checkpoint, which may be older.
TEST(JobFingerprint, KeepsItsValue) {
  v1::Job job;
  job.set_name("digits");
  job.set_seed(7);
  v1::IdxSource& train = *job.mutable_data()->mutable_train()->mutable_idx();
  train.set_features("/data/train/images.gz");
  train.set_labels("/data/train/labels.gz");
  v1::IdxSource& test = *job.mutable_data()->mutable_test()->mutable_idx();
  test.set_features("/data/test/images.gz");
  test.set_labels("/data/test/labels.gz");
  EXPECT_EQ(JobFingerprint(job), "3c229c3c750ce4b0");
}

TEST(JobFingerprint, DoesNotDependOnWhatIsShown) {
  v1::Job job;
  job.set_name("digits");
  v1::Job other = job;
  other.set_verbose(v1::VERBOSE_SILENT);
  other.set_progress_style(v1::PROGRESS_STYLE_KERAS2);
  EXPECT_EQ(JobFingerprint(job), JobFingerprint(other));
  other.set_validation_freq(2);
  EXPECT_NE(JobFingerprint(job), JobFingerprint(other));
}

// A source without a message of its own: also when it gets another field.
TEST(JobFingerprint, OfAnArchiveKeepsItsValue) {
  v1::Job job;
  job.set_name("digits");
  job.set_seed(7);
  v1::SourceObject& npz = *job.mutable_data()->mutable_train()->mutable_other();
  npz.set_name("npz");
  auto& config = *npz.mutable_config()->mutable_fields();
  config["file"].set_string_value("/data/train/digits.npz");
  config["features"].set_string_value("x_train");
  EXPECT_EQ(JobFingerprint(job), "a9cc85a72172b63d");
  config["labels"].set_string_value("y");
  EXPECT_EQ(JobFingerprint(job), "a9cc85a72172b63d") << "the default";
  config["labels"].set_string_value("y_train");
  EXPECT_NE(JobFingerprint(job), "a9cc85a72172b63d");
}

TEST(JobFingerprint, HasTheNameOfAFolder) {
  v1::Job job;
  v1::SourceObject& images =
      *job.mutable_data()->mutable_train()->mutable_other();
  images.set_name("images");
  auto& config = *images.mutable_config()->mutable_fields();
  const auto fingerprint = [&](const char* folder) {
    config["folder"].set_string_value(folder);
    return JobFingerprint(job);
  };
  EXPECT_EQ(fingerprint("/data/pets/"), fingerprint("/other/pets/"));
  EXPECT_NE(fingerprint("/data/pets/"), fingerprint("/data/cars/"));
}

}  // namespace
}  // namespace paceline
