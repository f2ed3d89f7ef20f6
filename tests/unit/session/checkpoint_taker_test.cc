#include "common/session/leader/checkpoint_taker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Keeps what it is asked, for the test to answer.
class FakeHolders : public VariableHolders {
 public:
  void Snapshot(const std::string& name, SnapshotDone done) override {
    this->name = name;
    done(std::vector<int64_t>());
  }
  void WriteCheckpoint(const std::string& folder, bool /*is_kept*/,
                       WriteDone done) override {
    EXPECT_EQ(std::filesystem::path(folder).filename(), name);
    write_done = std::move(done);
  }

  std::string name;
  WriteDone write_done;
};

class CheckpointTakerTest : public SessionTest {
 protected:
  CheckpointTakerTest() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = ::testing::TempDir() + "taker." + info->name() + "." +
                 std::to_string(getpid());
    std::filesystem::remove_all(directory_);
    Create();
    session_of_all_.emplace(std::move(session_));
    saver_.emplace(OutputPlaces{directory_, graph_, event_files_},
                   [this](const CheckpointOutput&, const absl::Status& status) {
                     saved_.push_back(status);
                   });
    taker_.emplace(directory_, /*keep=*/1, Manifest(), *session_of_all_,
                   holders_, *saver_);
  }
  ~CheckpointTakerTest() override { std::filesystem::remove_all(directory_); }

  // Takes a checkpoint of `step`, for these files, whose holders answer so.
  void Take(int64_t step, absl::StatusOr<std::vector<ShardFile>> files,
            std::vector<CheckpointOutput> saves = {}) {
    TakeCheckpoint action;
    action.saves = std::move(saves);
    action.step = step;
    action.state =
        std::make_shared<const nlohmann::json>(nlohmann::json::object());
    taker_->Take(action);
    if (files.ok()) {
      for (const ShardFile& file : *files) {
        std::ofstream(Folder() + "/" + file.file)
            << std::string(static_cast<size_t>(file.size_bytes), 'x');
      }
    }
    holders_.write_done(std::move(files));
    taker_->Poll();
  }
  std::string Folder() const { return directory_ + "/" + holders_.name; }
  bool HasFolder() const { return std::filesystem::exists(Folder()); }

  std::string directory_;
  Graph graph_;
  EventFiles event_files_;
  FakeHolders holders_;
  std::vector<absl::Status> saved_;
  std::optional<ModelSaver> saver_;
  std::optional<SharedSession> session_of_all_;
  std::optional<CheckpointTaker> taker_;
};

TEST_F(CheckpointTakerTest, HoldersAreToldNames) {
  Take(7, std::vector<ShardFile>{{ShardFileName(0, 1), 10, 1, 7}});
  EXPECT_EQ(holders_.name, "step-000000000007");
  EXPECT_TRUE(std::filesystem::exists(Folder() + "/manifest.json"));
  EXPECT_EQ(taker_->lost().count, 0);
}

TEST_F(CheckpointTakerTest, DeletesAFolderOnlyOnceNobodyWritesIntoIt) {
  Take(1, absl::ResourceExhaustedError("the disk is full"));
  EXPECT_FALSE(HasFolder());
  for (const absl::Status& silence :
       {absl::UnavailableError("ps-0: connection reset"),
        absl::DeadlineExceededError("ps-0: no answer"),
        absl::CancelledError("the process ends")}) {
    Take(2, silence);
    EXPECT_TRUE(HasFolder());
  }
  EXPECT_EQ(taker_->lost().count, 4);
  EXPECT_EQ(taker_->lost().error, "the process ends");
  // All shards have written a later one, so none writes into those any more.
  Take(3, std::vector<ShardFile>{{ShardFileName(0, 1), 10, 1, 3}});
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/step-000000000002"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/step-000000000002-3"));
  EXPECT_TRUE(HasFolder());
}

TEST_F(CheckpointTakerTest, ALostCheckpointLosesTheFilesOfModels) {
  Take(1, absl::ResourceExhaustedError("the disk is full"),
       {SaveModel{"a/x.keras"}, WriteWeights{"logs/train"}});
  ASSERT_THAT(saved_, SizeIs(2));
  EXPECT_EQ(saved_[0].code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(saved_[0].message()),
              AllOf(HasSubstr("ModelCheckpoint: cannot save the model as " +
                              directory_ + "/a/x.keras: "),
                    HasSubstr("the disk is full")));
  EXPECT_THAT(std::string(saved_[1].message()),
              HasSubstr("TensorBoard: cannot write histograms to " +
                        directory_ + "/logs/train: "));
  // They were those of that checkpoint alone.
  Take(2, absl::ResourceExhaustedError("the disk is full"));
  EXPECT_THAT(saved_, SizeIs(2));
}

TEST_F(CheckpointTakerTest, SaysWhyTheFileOfAModelIsNotWritten) {
  // The manifest has no model.
  Take(1, std::vector<ShardFile>{{ShardFileName(0, 1), 10, 1, 1}},
       {SaveModel{"x.keras"}, SaveModel{"y.keras"}});
  while (saved_.empty()) saver_->Poll();
  ASSERT_THAT(saved_, SizeIs(1));
  EXPECT_THAT(std::string(saved_[0].message()),
              HasSubstr("ModelCheckpoint: cannot save the model as " +
                        directory_ + "/x.keras"));
  EXPECT_TRUE(HasFolder());
  EXPECT_EQ(taker_->lost().count, 0);
}

TEST_F(CheckpointTakerTest, ShardsDoNotNameTheirFiles) {
  Take(1, std::vector<ShardFile>{{"../result\n.json", 10, 1, 3}});
  EXPECT_FALSE(HasFolder());
  EXPECT_EQ(taker_->lost().count, 1);
  EXPECT_THAT(taker_->lost().error,
              HasSubstr("shard 0 says that it wrote ../result\\n.json; "
                        "expected shard-00000-of-00001.safetensors"));
}

}  // namespace
}  // namespace paceline
