// The fields that are arguments of Keras' fit.
#include "common/job/fit_fields.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/job_fields.h"
#include "common/job/job_fingerprint.h"
#include "common/job/job_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Has no validation data.
constexpr char kBareJob[] = R"(strategy: mirrored
model: {layers: [{Input: {shape: [4]}}, {Dense: {units: 2}}]}
loss: mse
optimizer: sgd
data: {train: {idx: {features: f, labels: l}}}
batch_size_per_replica: 8
)";
constexpr char kSplit[] = "data.validation_split=0.5";

absl::StatusOr<v1::Job> ReadBare(const std::vector<std::string>& overrides,
                                 const std::string& more = "") {
  return ReadJob(absl::StrCat(kBareJob, more), "/jobs/bare.yaml", overrides,
                 {.check_files = false});
}

TEST(FitFields, SayWhichEpochsThereAre) {
  const auto plain = ReadBare({kSplit});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->initial_epoch(), 0);
  EXPECT_EQ(WriteJob(*plain).Find("validation_freq")->as_int(), 1);

  const auto job = ReadBare({kSplit, "epochs=9", "initial_epoch=8",
                             "validation_freq=3", "validation_steps=7"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->initial_epoch(), 8);
  EXPECT_EQ(job->validation_freq(), 3);
  EXPECT_EQ(job->validation_steps(), 7);
  EXPECT_EQ(WriteJob(*job).Find("validation_freq")->as_int(), 3);

  const auto listed = ReadBare({kSplit, "validation_freq=[1, 4]"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_THAT(listed->validation_epochs(), ElementsAre(1, 4));
  EXPECT_EQ(WriteJob(*listed).Find("validation_freq")->as_list().size(), 2u);

  const auto same = ReadBare({kSplit, "validation_freq=1"});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(JobFingerprint(*same), JobFingerprint(*plain));
}

TEST(FitFields, SayWhatIsShown) {
  const auto plain = ReadBare({});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->verbose(), v1::VERBOSE_UNSPECIFIED);
  EXPECT_EQ(plain->progress_style(), v1::PROGRESS_STYLE_KERAS3);
  EXPECT_EQ(WriteJob(*plain).Find("verbose")->as_string(), "auto");
  for (const auto& [text, verbose] :
       {std::pair("0", v1::VERBOSE_SILENT), std::pair("1", v1::VERBOSE_BAR),
        std::pair("2", v1::VERBOSE_LINES)}) {
    const auto job =
        ReadBare({absl::StrCat("verbose=", text), "progress=keras2"});
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->verbose(), verbose);
    EXPECT_EQ(job->progress_style(), v1::PROGRESS_STYLE_KERAS2);
    EXPECT_EQ(absl::StrCat(WriteJob(*job).Find("verbose")->as_int()), text);
    EXPECT_EQ(WriteJob(*job).Find("progress")->as_string(), "keras2");
    EXPECT_EQ(JobFingerprint(*job), JobFingerprint(*plain));
  }
}

TEST(FitFields, AreRefusedWithLineAndReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"initial_epoch: 1",
       "7: initial_epoch: must be below epochs, 1, since epochs count from 0; "
       "got 1"},
      {"initial_epoch: -1", "7: initial_epoch: must be from 0 to"},
      {"validation_freq: 2",
       "7: validation_freq: there is no validation data; expected "
       "data.validation or data.validation_split"},
      {"validation_freq: [1]",
       "7: validation_freq: there is no validation data"},
      {"validation_steps: 2",
       "7: validation_steps: there is no validation data"},
      {"validation_freq: 0", "7: validation_freq: must be from 1 to"},
      {"validation_freq: [1, 0]",
       "7: validation_freq[1]: must be from 1 to 2147483647, got 0"},
      {"validation_freq: []",
       "7: validation_freq: is empty; expected at least one epoch"},
      {"validation_freq: [[1]]",
       "7: validation_freq[0]: expected an integer, got [1]"},
      {"validation_freq: often",
       "7: validation_freq: expected integer or list of integers, got "
       "\"often\""},
      {"verbose: 3", "7: verbose: expected auto, 0, 1 or 2, got 3"},
      {"verbose: true", "7: verbose: expected auto, 0, 1 or 2, got true"},
      {"progress: keras",
       "7: progress: expected one of keras3, keras2, got \"keras\""},
  };
  for (const auto& [text, error] : cases) {
    const absl::Status status = ReadBare({}, text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(error));
  }
}

}  // namespace
}  // namespace paceline
