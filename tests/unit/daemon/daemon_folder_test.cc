#include "common/daemon/daemon_folder.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class DaemonFolderTest : public ::testing::Test {
 protected:
  ~DaemonFolderTest() override { std::filesystem::remove_all(path_); }

  absl::StatusOr<DaemonFolder> Enter(absl::Duration patience) {
    return DaemonFolder::Enter(
        path_, [] { return false; }, patience);
  }
  // A daemon begins, does this, and ends, in whatever way.
  void Live(void (*life)(DaemonFolder&)) {
    auto folder = Enter(absl::ZeroDuration());
    ASSERT_TRUE(folder.ok()) << folder.status();
    life(*folder);
  }
  bool NextSaysLeft() {
    return Enter(absl::ZeroDuration())->predecessor_left();
  }

  const std::string path_ = ::testing::TempDir() + "daemon_folder_test";
};

void Leave(DaemonFolder& folder) {
  folder.SetHeard();
  folder.SetLeft();
}

TEST_F(DaemonFolderTest, KeepsItsHome) {
  const uint64_t home = Enter(absl::ZeroDuration())->home();
  EXPECT_NE(home, 0u);
  EXPECT_EQ(Enter(absl::ZeroDuration())->home(), home);
}

TEST_F(DaemonFolderTest, TellsThatTheLastOneLeft) {
  EXPECT_FALSE(NextSaysLeft());
  Live(Leave);
  EXPECT_TRUE(NextSaysLeft());
  // Killed, after the coordinator has heard it.
  Live([](DaemonFolder& folder) { folder.SetHeard(); });
  EXPECT_FALSE(NextSaysLeft());
}

// The books of the coordinator have the daemon before it.
TEST_F(DaemonFolderTest, OneThatWasNotHeardChangesNothing) {
  Live(Leave);
  Live([](DaemonFolder&) {});
  EXPECT_TRUE(NextSaysLeft());
  Live([](DaemonFolder& folder) { folder.SetHeard(); });
  Live([](DaemonFolder& folder) { folder.SetLeft(); });
  EXPECT_FALSE(NextSaysLeft());
}

// As releases before wrote it.
TEST_F(DaemonFolderTest, ReadsAFileWithTheHomeAlone) {
  std::filesystem::create_directories(path_);
  const uint64_t home = 7;
  std::ofstream(path_ + "/daemon.lock", std::ios::binary)
      .write(reinterpret_cast<const char*>(&home), sizeof(home));
  const auto folder = Enter(absl::ZeroDuration());
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(folder->home(), 7u);
  EXPECT_FALSE(folder->predecessor_left());
}

TEST_F(DaemonFolderTest, TwoDaemonsDoNotShareIt) {
  const auto first = Enter(absl::ZeroDuration());
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = Enter(absl::Milliseconds(100)).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()),
              HasSubstr(path_ + ": another daemon uses this folder"));
  EXPECT_EQ(DaemonFolder::Enter(path_, [] { return true; }).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(DaemonFolderTest, WaitsForOneThatIsEnding) {
  std::optional<absl::StatusOr<DaemonFolder>> first =
      Enter(absl::ZeroDuration());
  ASSERT_TRUE(first->ok()) << first->status();
  std::thread ending([&first] {
    absl::SleepFor(absl::Milliseconds(200));
    first.reset();
  });
  const auto second = Enter(absl::Seconds(30));
  EXPECT_TRUE(second.ok()) << second.status();
  ending.join();
}

}  // namespace
}  // namespace paceline
