// Which files TensorBoard's runs get.
#include "common/session/leader/event_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "common/base/file.h"
#include "common/callback/event_record.h"

namespace paceline {
namespace {

constexpr double kFilesBegin = 1234567890;

absl::Time BeginOfFiles() {
  return absl::UnixEpoch() + absl::Seconds(kFilesBegin);
}

class EventFilesTest : public ::testing::Test {
 protected:
  EventFilesTest()
      : run_(::testing::TempDir() + "event_files." + std::to_string(getpid())) {
    std::filesystem::remove_all(run_);
  }
  ~EventFilesTest() override { std::filesystem::remove_all(run_); }

  // The files of the run, by their numbers.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(run_)) {
      const std::string number = entry.path().stem().extension().string();
      files[number] = *ReadFile(entry.path().string(), 1 << 20);
    }
    return files;
  }

  const std::string run_;
};

// As phases of a process do.
TEST_F(EventFilesTest, TwoOfTheSameSecondHaveTheirOwnFiles) {
  std::map<std::string, std::string> expected;
  for (const int64_t step : {0, 1, 2}) {
    EventFiles files(BeginOfFiles);
    for (int i = 0; i < 2; ++i) {
      const absl::Status written =
          files.WriteScalars(run_, step, {{"epoch_loss", 2}});
      ASSERT_TRUE(written.ok()) << written;
    }
    const std::string point = ScalarRecord(kFilesBegin, step, "epoch_loss", 2);
    expected["." + std::to_string(step)] =
        VersionRecord(kFilesBegin) + point + point;
  }
  EXPECT_EQ(Files(), expected);
}

TEST_F(EventFilesTest, NamesAFileThatCannotBeCreated) {
  const std::string file = run_ + "x";
  ASSERT_TRUE(WriteFileAtomically(file, "").ok());
  EventFiles files(BeginOfFiles);
  const absl::Status written = files.WriteScalars(file + "/train", 0, {});
  EXPECT_NE(std::string(written.message()).find(file), std::string::npos)
      << written;
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace paceline
