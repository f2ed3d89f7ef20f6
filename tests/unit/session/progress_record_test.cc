#include "common/session/leader/progress_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "common/base/file.h"
#include "common/progress/progress_message.h"
#include "common/session/leader/progress_bar.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProgressRecordTest : public ::testing::Test {
 protected:
  ProgressRecordTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  std::unique_ptr<ProgressRecord> MakeRecord() const {
    return std::make_unique<ProgressRecord>(path_, v1::PROGRESS_STYLE_KERAS2);
  }
  // What the file says, which is what others take.
  v1::JobProgress Read() const {
    v1::JobProgress progress;
    const auto content = ReadFile(path_, kMaxProgressBytes);
    EXPECT_TRUE(content.ok()) << content.status();
    EXPECT_TRUE(content.ok() && progress.ParseFromString(*content));
    const absl::Status checked = CheckJobProgress(progress);
    EXPECT_TRUE(checked.ok()) << checked;
    return progress;
  }

  const std::string folder_ = ::testing::TempDir() + "progress_record_test";
  const std::string path_ = folder_ + "/leader.progress";
};

EpochProgress EndedEpoch(int steps) {
  EpochProgress progress;
  progress.steps_done = steps;
  progress.steps_total = steps;
  progress.logs = {{"loss", 0.5}};
  progress.is_end = true;
  return progress;
}

TEST_F(ProgressRecordTest, ABarWithARecordWritesLines) {
  std::ostringstream out;
  absl::Time now = absl::UnixEpoch();
  v1::Job job;
  job.set_epochs(2);
  job.set_verbose(v1::VERBOSE_BAR);
  ProgressBar bar(&out, /*is_terminal=*/false, job, MakeRecord(),
                  [&] { return now; });
  bar.BeginEpoch(0);
  now += absl::Seconds(1);
  bar.Update({v1::PHASE_TRAIN, 0, 2, 8, {{"loss", 2}}});
  EXPECT_EQ(Read().current().steps_done(), 2);
  // Not 20 times a second.
  now += absl::Milliseconds(100);
  bar.Update({v1::PHASE_TRAIN, 0, 3, 8, {{"loss", 2}}});
  EXPECT_EQ(Read().current().steps_done(), 2);
  now += absl::Milliseconds(100);
  bar.Update({v1::PHASE_TRAIN, 0, 4, 8, {{"loss", 1.5}}});
  EXPECT_EQ(Read().current().steps_done(), 4);
  EXPECT_EQ(Read().current().steps_total(), 8);
  EXPECT_EQ(Read().current().logs(0).value(), 1.5);
  EXPECT_EQ(Read().style(), v1::PROGRESS_STYLE_KERAS2);
  EpochRecord record;
  record.steps = 8;
  record.logs = {{"loss", 1}};
  record.validation_logs = {{"val_loss", 3}};
  bar.EndEpoch(record);
  const v1::JobProgress progress = Read();
  EXPECT_FALSE(progress.has_current());
  ASSERT_EQ(progress.ended_size(), 1);
  // From the file others make the line that was written.
  EXPECT_THAT(out.str(),
              HasSubstr("Epoch 1/2\n" +
                        MakeProgressStyle(v1::PROGRESS_STYLE_UNSPECIFIED)
                            ->Line(FromProto(progress.ended(0), true)) +
                        "\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\r")));
}

TEST_F(ProgressRecordTest, KeepsTheLastEpochs) {
  const auto record = MakeRecord();
  for (int steps = 1; steps <= 40; ++steps) record->AddEnded(EndedEpoch(steps));
  const v1::JobProgress progress = Read();
  ASSERT_EQ(progress.ended_size(), kMaxEndedEpochs);
  EXPECT_EQ(progress.ended(0).steps_done(), 40 - kMaxEndedEpochs + 1);
  EXPECT_EQ(progress.ended(kMaxEndedEpochs - 1).steps_done(), 40);
}

TEST_F(ProgressRecordTest, StaysSmallWithManyMetrics) {
  EpochProgress many = EndedEpoch(3);
  for (int i = 0; i < 200; ++i) {
    many.logs.emplace_back("metric_with_a_name_" + std::to_string(i), 1);
  }
  const auto record = MakeRecord();
  for (int epoch = 0; epoch < 40; ++epoch) record->AddEnded(many);
  EXPECT_GE(Read().ended_size(), 1);
}

TEST_F(ProgressRecordTest, GoesOnOnceItCanBeWritten) {
  std::filesystem::remove_all(folder_);
  const auto record = MakeRecord();
  record->SetCurrent(EndedEpoch(1));
  record->AddEnded(EndedEpoch(1));
  std::filesystem::create_directories(folder_);
  record->AddEnded(EndedEpoch(2));
  EXPECT_EQ(Read().ended_size(), 2);
}

}  // namespace
}  // namespace paceline
