// Checkpoints that are taken for the files of models that callbacks ask for.
#include <gtest/gtest.h>

#include <variant>

#include "common/session/machine/saved_session.h"
#include "nlohmann/json.hpp"
#include "tests/unit/session/session_callbacks_fixture.h"

namespace paceline {
namespace {

using SessionSavesTest = SessionCallbacksTest;

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
  reporter.saves = {WriteWeights{"logs/train", 1, true},
                    SaveModel{"x.weights.h5", true}};
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  EXPECT_EQ(said_.back(), "save x.weights.h5");
  EXPECT_EQ(said_.at(said_.size() - 2), "save weights");
  const auto saved = SavedSessionFromJson(*checkpoint_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  ASSERT_EQ(saved->saves.size(), 2);
  const auto& weights = std::get<WriteWeights>(saved->saves[0]);
  EXPECT_EQ(weights.folder, "logs/train");
  EXPECT_EQ(weights.step, 1);
  EXPECT_TRUE(weights.has_images);
  EXPECT_TRUE(std::get<SaveModel>(saved->saves[1]).is_weights_only);
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
