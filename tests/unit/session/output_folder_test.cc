// What runs do to the output folder before they begin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/session/leader/output_lock.h"
#include "common/session/leader/run_setup.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OutputFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = ::testing::TempDir() + "output." + info->name() + "." +
            std::to_string(getpid());
    std::filesystem::remove_all(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::string path_;
};

TEST_F(OutputFolderTest, IsOfOneRunAtATime) {
  {
    const absl::StatusOr<OutputLock> first = OutputLock::Take(path_);
    ASSERT_TRUE(first.ok()) << first.status();
    const absl::Status second = OutputLock::Take(path_).status();
    EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(second.message()),
                AllOf(HasSubstr(path_),
                      HasSubstr(absl::StrCat("process ", getpid(), " on ")),
                      HasSubstr(" since 20")));
  }
  EXPECT_TRUE(OutputLock::Take(path_).ok());
}

TEST_F(OutputFolderTest, IsFreeOnceItsProcessIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const absl::StatusOr<OutputLock> lock = OutputLock::Take(path_);
    const bool told = lock.ok() && write(ready[1], "x", 1) == 1;
    while (told) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THAT(std::string(OutputLock::Take(path_).status().message()),
              HasSubstr(absl::StrCat("process ", child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(OutputLock::Take(path_).ok());
}

TEST_F(OutputFolderTest, LockIsNoLink) {
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/victim") << "precious";
  std::filesystem::create_symlink(path_ + "/victim", path_ + "/.lock");
  EXPECT_THAT(std::string(OutputLock::Take(path_).status().message()),
              HasSubstr("symbolic links"));
  EXPECT_EQ(std::filesystem::file_size(path_ + "/victim"), 8u);
}

TEST_F(OutputFolderTest, PreparingItSaysWhatBecomesOfAnEarlierRun) {
  std::filesystem::create_directories(path_ + "/checkpoint/new");
  std::filesystem::create_directories(path_ + "/checkpoint.previous/old");
  std::ofstream(path_ + "/result.json") << "{}";
  std::ostringstream messages;
  ASSERT_TRUE(PrepareOutput(path_, /*resumes=*/false, messages).ok());
  EXPECT_EQ(messages.str(),
            absl::StrCat("deleted ", path_, "/result.json of an earlier run\n",
                         "deleted ", path_,
                         "/checkpoint.previous of an earlier run\n", "moved ",
                         path_, "/checkpoint of an earlier run to ", path_,
                         "/checkpoint.previous\n"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/checkpoint.previous/new"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/checkpoint"));
}

TEST_F(OutputFolderTest, PreparingANewOneSaysNothing) {
  std::filesystem::create_directories(path_);
  std::ostringstream messages;
  ASSERT_TRUE(PrepareOutput(path_, /*resumes=*/false, messages).ok());
  std::ofstream(path_ + "/result.json") << "{}";
  std::filesystem::create_directories(path_ + "/checkpoint");
  ASSERT_TRUE(PrepareOutput(path_, /*resumes=*/true, messages).ok());
  EXPECT_EQ(messages.str(), "");
  EXPECT_FALSE(std::filesystem::exists(path_ + "/result.json"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/checkpoint"));
}

}  // namespace
}  // namespace paceline
