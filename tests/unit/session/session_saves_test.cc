// Checkpoints that are taken for the files of models that callbacks ask for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/callback.h"
#include "common/checkpoint/object_reader.h"
#include "common/session/machine/saved_session.h"
#include "nlohmann/json.hpp"
#include "tests/unit/session/session_callbacks_fixture.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using SessionSavesTest = SessionCallbacksTest;

// Saves the model after so many batches.
class BatchSaver final : public Callback {
 public:
  explicit BatchSaver(int64_t frequency) : frequency_(frequency) {}

  absl::string_view class_name() const override { return "BatchSaver"; }
  bool hears_batches() const override { return true; }
  std::optional<int64_t> steps_to_save() const override {
    return std::max<int64_t>(frequency_ - count_, 1);
  }
  void BatchEnded(const BatchEnd& end, Decision& decision) override {
    count_ += end.count;
    if (count_ < frequency_) return;
    count_ = 0;
    decision.saves = {
        SaveModel{absl::StrCat(end.epoch, "-", end.batch, ".keras")}};
    EXPECT_EQ(end.logs.size(), 2u);
    logs_ = end.logs;
  }
  nlohmann::json Save() const override { return {{"count", count_}}; }
  absl::Status Restore(const ObjectReader& state) override {
    ASSIGN_OR_RETURN(count_, state.Count("count", frequency_));
    return absl::OkStatus();
  }
  // Of the batch that was saved last.
  const Logs& logs() const { return logs_; }

 private:
  const int64_t frequency_;
  int64_t count_ = 0;
  Logs logs_;
};

class SessionBatchSavesTest : public SessionCallbacksTest {
 protected:
  void SaveAfter(int64_t frequency) {
    Use(std::make_unique<BatchSaver>(frequency));
  }

  // What the checkpoint that is taken now is for: "10: 0-9.keras".
  std::string Taken() {
    const auto taken = Take<TakeCheckpoint>();
    if (!taken) return "";
    checkpoint_ = taken->state;
    std::string text = absl::StrCat(taken->step, ":");
    for (const CheckpointOutput& save : taken->saves) {
      absl::StrAppend(&text, " ", std::get<SaveModel>(save).path);
    }
    return text;
  }
  void Answer() {
    session_->SnapshotTaken(absl::OkStatus(), now_);
    session_->CheckpointWritten(absl::OkStatus(), now_);
  }
  // No lease goes beyond a batch that is to be saved.
  std::optional<v1::Lease> Acquire(TaskId task) {
    std::optional<v1::Lease> lease = SessionCallbacksTest::Acquire(task);
    EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
    return lease;
  }
  // Works on; returns what each checkpoint is for.
  std::vector<std::string> WorkAndAnswer() {
    std::vector<std::string> all;
    while (true) {
      while (const auto lease = Acquire(kWorker0)) Finish(kWorker0, *lease);
      all.push_back(Taken());
      if (all.back().empty()) break;
      Answer();
    }
    all.pop_back();
    return all;
  }
};

TEST_F(SessionBatchSavesTest, ACheckpointIsTakenAfterJustSoManyBatches) {
  options_.job.set_epochs(2);
  SaveAfter(40);
  Start();
  EXPECT_THAT(WorkAndAnswer(),
              ElementsAre("40: 0-39.keras", "80: 0-79.keras", "120: 1-19.keras",
                          "160: 1-59.keras", "200: 1-99.keras"));
  EXPECT_TRUE(session_->ended());
  for (const EpochRecord& record : session_->history()) {
    EXPECT_EQ(record.examples, 1000);
  }
}

TEST_F(SessionBatchSavesTest, ABatchThatEndsAnEpochIsSavedWithTheEpoch) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  SaveAfter(50);
  Start();
  EXPECT_THAT(WorkAndAnswer(),
              ElementsAre("50: 0-49.keras", "100: 0-99.keras",
                          "150: 1-49.keras", "200: 1-99.keras"));
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionBatchSavesTest, ABatchThatEndsAnEpochIsSavedBeforeItsValidation) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  validation_examples_ = 20;
  SaveAfter(50);
  Start();
  // The epoch's own checkpoint has its validation.
  EXPECT_THAT(WorkAndAnswer(), ElementsAre("50: 0-49.keras", "100: 0-99.keras",
                                           "100:", "150: 1-49.keras",
                                           "200: 1-99.keras", "200:"));
  EXPECT_TRUE(session_->ended());
  for (const EpochRecord& record : session_->history()) {
    EXPECT_EQ(record.examples, 1000);
    EXPECT_FALSE(record.validation_logs.empty());
  }
}

TEST_F(SessionBatchSavesTest, AJobThatIsStoppedInTheValidationHasTheFile) {
  options_.job.set_epochs(2);
  validation_examples_ = 20;
  SaveAfter(100);
  Start();
  WorkUntilIdle(kWorker0);
  EXPECT_EQ(Taken(), "100: 0-99.keras");
  EXPECT_TRUE(session_->history().empty());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  // The file is being written.
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->phase(), v1::PHASE_VALIDATION);
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  EXPECT_FALSE(session_->ended());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());

  SaveAfter(100);
  Resume();
  const auto validation = Acquire(kWorker0);
  ASSERT_TRUE(validation);
  EXPECT_EQ(validation->phase(), v1::PHASE_VALIDATION);
  Finish(kWorker0, *validation);
  EXPECT_THAT(WorkAndAnswer(), ElementsAre("200: 1-99.keras"));
  EXPECT_TRUE(session_->ended());
  EXPECT_EQ(session_->history().size(), 2);
}

TEST_F(SessionBatchSavesTest, TheBatchHasTheValuesOfAllItsWorkers) {
  options_.tasks = {{kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
  options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
  auto callback = std::make_unique<BatchSaver>(1);
  const BatchSaver& saver = *callback;
  Use(std::move(callback));
  Create();
  for (const ExpectedTask& task : options_.tasks) {
    ASSERT_TRUE(Register(task.id).ok());
    ASSERT_TRUE(AwaitStart(task.id).ok());
  }
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease && Acquire(kWorker1));
  const auto half = static_cast<int64_t>(lease->end() - lease->begin()) / 2;
  v1::LeaseReport report = ReportOf(*lease, half);
  ASSERT_TRUE(Beat(kWorker0, {report}).ok());
  EXPECT_THAT(saver.logs(), IsEmpty()) << "worker-1 has not reported";
  report.mutable_sums()->set_states(0, 3 * report.sums().states(0));
  ASSERT_TRUE(Beat(kWorker1, {report}).ok());
  EXPECT_EQ(Taken(), "1: 0-0.keras");
  EXPECT_THAT(saver.logs(), Contains(Pair("loss", 4)));
}

TEST_F(SessionBatchSavesTest, OpenLeasesAreFinishedBefore) {
  SaveAfter(30);
  Start();
  const auto first = Acquire(kWorker0);
  const auto second = Acquire(kWorker1);
  ASSERT_TRUE(first && second);
  EXPECT_LE(second->end(), 300);
  Finish(kWorker0, *first);
  while (const auto lease = Acquire(kWorker0)) {
    EXPECT_LE(lease->end(), 300);
    Finish(kWorker0, *lease);
  }
  EXPECT_EQ(Taken(), "");
  EXPECT_FALSE(Acquire(kWorker0));
  Finish(kWorker1, *second);
  EXPECT_EQ(Taken(), "30: 0-29.keras");
  EXPECT_FALSE(Acquire(kWorker1)) << "the variables are being copied";
  session_->SnapshotTaken(absl::OkStatus(), now_);
  // Training goes on while the file is written, up to the next one.
  EXPECT_GT(WorkUntilIdle(kWorker0), 0);
  EXPECT_EQ(Taken(), "");
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_EQ(Taken(), "60: 0-59.keras");
}

TEST_F(SessionBatchSavesTest, AlsoWithTheJobsOwnCheckpoints) {
  options_.job.set_epochs(1);
  options_.job.mutable_checkpoint()->set_every_steps(50);
  SaveAfter(25);
  Start();
  EXPECT_THAT(WorkAndAnswer(),
              ElementsAre("25: 0-24.keras", "50: 0-49.keras", "75: 0-74.keras",
                          "100: 0-99.keras"));
}

TEST_F(SessionBatchSavesTest, BatchesOfALostWorkerCount) {
  options_.job.set_epochs(1);
  SaveAfter(30);
  Start();
  const auto lost = Acquire(kWorker1);
  ASSERT_TRUE(lost);
  ASSERT_GT(lost->end() - lost->begin(), 10);
  Pass(absl::Seconds(9), {kWorker1});
  WorkUntilIdle(kWorker0);
  // The shards know one step, whose sums are lost with the worker.
  v1::LeaseReport report = ReportOf(*lost, 10);
  report.clear_sums();
  session_->Fenced(WorkerIdOf(kWorker1), ShardKnows(report), now_);
  EXPECT_THAT(WorkAndAnswer(), ElementsAre("30: 0-29.keras", "60: 0-59.keras",
                                           "90: 0-89.keras"));
  EXPECT_TRUE(session_->ended());
}

// There is no value to tell of, so the file comes later.
TEST_F(SessionBatchSavesTest, StepsWithoutValuesDoNotStopTheJob) {
  options_.job.set_epochs(1);
  SaveAfter(1);
  Start();
  const auto lost = Acquire(kWorker1);
  ASSERT_TRUE(lost);
  ASSERT_EQ(lost->end() - lost->begin(), 10);
  Pass(absl::Seconds(9), {kWorker1});
  v1::LeaseReport report = ReportOf(*lost, 10);
  report.clear_sums();
  session_->Fenced(WorkerIdOf(kWorker1), ShardKnows(report), now_);
  EXPECT_EQ(WorkUntilIdle(kWorker0), 10);
  EXPECT_EQ(Taken(), "2: 0-1.keras");
}

TEST_F(SessionBatchSavesTest, BatchesAreCountedOnAfterAResume) {
  options_.job.mutable_checkpoint()->set_every_steps(45);
  SaveAfter(60);
  Start();
  WorkUntilIdle(kWorker0);
  EXPECT_EQ(Taken(), "45:");
  Answer();
  SaveAfter(60);
  Resume();
  WorkUntilIdle(kWorker0);
  EXPECT_EQ(Taken(), "60: 0-59.keras");
  const auto saved = SavedSessionFromJson(*checkpoint_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(std::get<SaveModel>(saved->saves.at(0)).path, "0-59.keras");
  SaveAfter(60);
  Resume();
  WorkUntilIdle(kWorker0);
  EXPECT_EQ(Taken(), "90:");
  Answer();
  WorkUntilIdle(kWorker0);
  EXPECT_EQ(Taken(), "120: 1-19.keras");
}

TEST_F(SessionBatchSavesTest, AJobThatIsStoppedTakesTheCheckpoint) {
  SaveAfter(20);
  Start();
  const auto first = Acquire(kWorker0);
  WorkUntilIdle(kWorker1);
  ASSERT_TRUE(first);
  const v1::LeaseReport all =
      ReportOf(*first, static_cast<int64_t>(first->end() - first->begin()));
  ASSERT_TRUE(Beat(kWorker0, {all}).ok());
  EXPECT_EQ(Taken(), "20: 0-19.keras");
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  EXPECT_FALSE(session_->ended());
  Answer();
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionSavesTest, ACheckpointIsTakenForTheFileOfAModel) {
  // The job itself takes none.
  ReportUntil(2).saved_epoch = 1;
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  EXPECT_EQ(said_.back(), "save a/x.keras");
  EXPECT_EQ(checkpoint_->at("epoch"), 2);
  const auto saved = SavedSessionFromJson(*checkpoint_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  ASSERT_EQ(saved->saves.size(), 1);
  const auto& save = std::get<SaveModel>(saved->saves[0]);
  EXPECT_EQ(save.path, "a/x.keras");
  EXPECT_FALSE(save.is_weights_only);
  // Training goes on while the file is written.
  session_->SnapshotTaken(absl::OkStatus(), now_);
  Work();
  EXPECT_EQ(said_.back(), "done after 3");
  EXPECT_EQ(session_->history().size(), 3);
  EXPECT_FALSE(session_->ended());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionSavesTest, ACheckpointIsTakenForHistograms) {
  Reporter& reporter = ReportUntil(2);
  reporter.saved_epoch = 1;
  reporter.saves = {WriteWeights{"logs/train", 1, true}, SaveModel{"y.h5"},
                    SaveModel{"x.weights.h5", true}};
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  EXPECT_EQ(said_.back(), "save x.weights.h5");
  EXPECT_EQ(said_.at(said_.size() - 2), "save y.h5");
  EXPECT_EQ(said_.at(said_.size() - 3), "save weights");
  const auto saved = SavedSessionFromJson(*checkpoint_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  ASSERT_EQ(saved->saves.size(), 3);
  const auto& weights = std::get<WriteWeights>(saved->saves[0]);
  EXPECT_EQ(weights.folder, "logs/train");
  EXPECT_EQ(weights.step, 1);
  EXPECT_TRUE(weights.has_images);
  EXPECT_EQ(std::get<SaveModel>(saved->saves[1]).path, "y.h5");
  EXPECT_TRUE(std::get<SaveModel>(saved->saves[2]).is_weights_only);
  EXPECT_EQ(ToJson(*saved), *checkpoint_);
  session_->SnapshotTaken(absl::OkStatus(), now_);
  Work();
  EXPECT_FALSE(session_->ended());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionSavesTest, AJobThatIsStoppedAwaitsTheFileOfAModel) {
  ReportUntil(-1).saved_epoch = 0;
  Start();
  Work(/*answered=*/false);
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  EXPECT_FALSE(session_->ended());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionSavesTest, PathsOfFilesAreChecked) {
  ReportUntil(-1).saved_epoch = 0;
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  for (const char* const saves :
       {R"([["../x.keras", false]])", R"([["/x.keras", false]])",
        R"([["result.json", false]])", R"([["a//x.keras", false]])",
        R"([["x.keras"]])", R"([["x.keras", 1]])", R"(["x.keras"])", "{}",
        R"([{}])", R"([{"folder": "../x", "step": 1, "has_images": true}])",
        R"([{"folder": "a//b", "step": 1, "has_images": true}])",
        R"([{"folder": 1, "step": 1, "has_images": true}])",
        R"([{"folder": "a", "step": -1, "has_images": true}])",
        R"([{"folder": "a", "step": 1e99, "has_images": true}])",
        R"([{"folder": "a", "step": 1, "has_images": 1}])"}) {
    nlohmann::json bent = *checkpoint_;
    bent["saves"] = nlohmann::json::parse(saves);
    EXPECT_EQ(SavedSessionFromJson(bent).status().code(),
              absl::StatusCode::kDataLoss)
        << saves;
  }
}

}  // namespace
}  // namespace paceline
