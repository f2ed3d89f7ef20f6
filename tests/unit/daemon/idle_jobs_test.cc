// Folders of jobs go away some time after their last task.

#include "common/daemon/idle_jobs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace paceline {
namespace {

namespace fs = std::filesystem;

TEST(IdleJobs, RemovesFoldersThatWereNotUsedForLong) {
  const std::string folder = ::testing::TempDir() + "idle_jobs_test";
  fs::remove_all(folder);
  fs::create_directories(folder + "/old-1/files/data");
  const absl::Time start = absl::UnixEpoch();
  IdleJobs jobs(folder, start);
  fs::create_directories(folder + "/new-2");

  const absl::Time late = start + kKeepIdleJob - absl::Minutes(1);
  jobs.Tidy({"new-2"}, late);
  EXPECT_TRUE(fs::exists(folder + "/old-1"));
  jobs.Tidy({}, start + kKeepIdleJob);
  EXPECT_FALSE(fs::exists(folder + "/old-1"));
  EXPECT_TRUE(fs::exists(folder + "/new-2"));
  jobs.Tidy({"new-2"}, late + kKeepIdleJob);
  EXPECT_TRUE(fs::exists(folder + "/new-2"));
  jobs.Tidy({}, late + 2 * kKeepIdleJob);
  EXPECT_FALSE(fs::exists(folder + "/new-2"));
}

TEST(IdleJobs, AFolderThatIsNotThereHasNoJobs) {
  IdleJobs jobs(::testing::TempDir() + "idle_jobs_test_none",
                absl::UnixEpoch());
  jobs.Tidy({}, absl::UnixEpoch() + 2 * kKeepIdleJob);
}

}  // namespace
}  // namespace paceline
