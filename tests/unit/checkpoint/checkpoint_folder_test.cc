#include "common/checkpoint/checkpoint_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/unit/checkpoint/checkpoint_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class CheckpointFolderTest : public CheckpointTest {
 protected:
  std::vector<std::string> Folders() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(CheckpointFolderTest, AFileIsNoCheckpoint) {
  const std::string file = directory_ + "/model.keras";
  std::filesystem::create_directories(directory_);
  std::ofstream(file) << "zip";
  const absl::Status status = FindLatestCheckpoint(file).status();
  EXPECT_EQ(status,
            absl::InvalidArgumentError(
                file + ": is a file; expected a checkpoint, or a folder of "
                       "checkpoints"));
}

TEST_F(CheckpointFolderTest, NoFolderIsWrittenIntoTwice) {
  EXPECT_EQ(*CreateCheckpointFolder(directory_ + "/new", 938),
            directory_ + "/new/step-000000000938");
  EXPECT_EQ(*CreateCheckpointFolder(directory_ + "/new", 938),
            directory_ + "/new/step-000000000938-2");
  EXPECT_EQ(*CreateCheckpointFolder(directory_ + "/new", 938),
            directory_ + "/new/step-000000000938-3");
}

TEST_F(CheckpointFolderTest, FindsTheLatestComplete) {
  EXPECT_EQ(FindLatestCheckpoint(directory_).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(FindLatestCheckpoint(directory_ + "/none").status().code(),
            absl::StatusCode::kNotFound);
  const std::string first = WriteCheckpoint(900);
  const std::string second = WriteCheckpoint(1000);
  EXPECT_EQ(*FindLatestCheckpoint(directory_), second);
  const std::string third = WriteCheckpoint(1000);
  EXPECT_EQ(*FindLatestCheckpoint(directory_), third);
  // One that a crash left incomplete, and things that are no checkpoints.
  ASSERT_TRUE(CreateCheckpointFolder(directory_, 2000).ok());
  std::filesystem::create_directory(directory_ + "/step-x");
  std::filesystem::create_directory(directory_ + "/step-000000003000-old");
  EXPECT_EQ(*FindLatestCheckpoint(directory_), third);
  // A step folder itself.
  EXPECT_EQ(*FindLatestCheckpoint(first), first);
}

TEST_F(CheckpointFolderTest, DamagedManifestOfTheLatestIsAnError) {
  WriteCheckpoint(1);
  WriteBytes(WriteCheckpoint(2) + "/manifest.json", "{");
  const absl::Status status = FindLatestCheckpoint(directory_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("step-000000000002"));
}

TEST_F(CheckpointFolderTest, KeepsTheLatestGoodOnes) {
  for (int step : {1, 2, 3, 4}) WriteCheckpoint(step);
  ASSERT_TRUE(DeleteOldCheckpoints(directory_, 2).ok());
  EXPECT_THAT(Folders(),
              UnorderedElementsAre("step-000000000003", "step-000000000004"));
}

TEST_F(CheckpointFolderTest, SparesWhatTheLatestNeed) {
  WriteCheckpoint(1);
  for (int step : {2, 3, 4, 5}) {
    const std::string folder = WriteCheckpoint(step);
    Manifest manifest = *ReadManifest(folder);
    manifest.kept = step < 5 ? "step-000000000002"
                             : std::filesystem::path(folder).filename();
    ASSERT_TRUE(WriteManifest(folder, manifest).ok());
  }
  ASSERT_TRUE(DeleteOldCheckpoints(directory_, 2).ok());
  EXPECT_THAT(Folders(),
              UnorderedElementsAre("step-000000000002", "step-000000000004",
                                   "step-000000000005"));
  ASSERT_TRUE(DeleteOldCheckpoints(directory_, 1).ok());
  EXPECT_THAT(Folders(), UnorderedElementsAre("step-000000000005"));
}

TEST_F(CheckpointFolderTest, NeverDeletesTheLastGoodOne) {
  WriteCheckpoint(1);
  WriteCheckpoint(2);
  const std::string damaged = WriteCheckpoint(3);
  WriteBytes(damaged + "/manifest.json", "{");
  const std::string truncated = WriteCheckpoint(4);
  WriteBytes(truncated + "/" + ShardFileName(0, 2), "");
  ASSERT_TRUE(CreateCheckpointFolder(directory_, 5).ok());
  ASSERT_TRUE(DeleteOldCheckpoints(directory_, 1).ok());
  EXPECT_THAT(Folders(),
              UnorderedElementsAre("step-000000000002", "step-000000000003",
                                   "step-000000000004", "step-000000000005"));
  // Once there is a good one after them, all of those go.
  WriteCheckpoint(6);
  ASSERT_TRUE(DeleteOldCheckpoints(directory_, 1).ok());
  EXPECT_THAT(Folders(), UnorderedElementsAre("step-000000000006"));
}

TEST_F(CheckpointFolderTest, DeletesOne) {
  const std::string folder = WriteCheckpoint(1);
  ASSERT_TRUE(DeleteCheckpoint(folder).ok());
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_TRUE(DeleteCheckpoint(folder).ok());
}

TEST_F(CheckpointFolderTest, DeletesNothingBehindALink) {
  const std::string other = directory_ + "/other";
  const std::string theirs = other + "/step-000000000001";
  std::filesystem::create_directory(other);
  std::filesystem::rename(WriteCheckpoint(1), theirs);
  std::filesystem::create_directory_symlink(theirs,
                                            directory_ + "/step-000000000001");
  WriteCheckpoint(2);
  ASSERT_TRUE(DeleteOldCheckpoints(directory_, 1).ok());
  EXPECT_THAT(Folders(), UnorderedElementsAre("other", "step-000000000002"));
  EXPECT_EQ(*FindLatestCheckpoint(other), theirs);
}

TEST_F(CheckpointFolderTest, ListsCompleteCheckpointsTheOldestFirst) {
  EXPECT_THAT(*ListCheckpoints(directory_ + "/none"), testing::IsEmpty());
  const std::string second = WriteCheckpoint(20);
  const std::string first = WriteCheckpoint(3);
  ASSERT_TRUE(CreateCheckpointFolder(directory_, 10).ok());
  EXPECT_THAT(*ListCheckpoints(directory_),
              testing::ElementsAre(first, second));
}

}  // namespace
}  // namespace paceline
