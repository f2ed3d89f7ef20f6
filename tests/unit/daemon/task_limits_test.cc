// What tasks may use, with processes that want more.

#include "common/daemon/task_limits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "glog/logging.h"
#include "gmock/gmock.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Takes 100 MB of memory.
constexpr char kTakeMemory[] =
    "x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo has ${#x}\n";

v1::Resources Limits(uint64_t millicores, uint64_t memory_bytes) {
  v1::Resources limits;
  limits.set_millicores(millicores);
  limits.set_memory_bytes(memory_bytes);
  return limits;
}

class TaskLimitsTest : public ::testing::Test {
 protected:
  struct End {
    int exit_code;
    ChildUsage usage;
    std::string log;
  };

  TaskLimitsTest() {
    fs::remove_all(home_);
    fs::create_directories(home_);
  }

  // Runs a script of bash to its end.
  End Run(const std::string& script, const ChildLimits& limits) {
    std::ofstream(home_ + "/script") << "#!/bin/bash\n" << script;
    fs::permissions(home_ + "/script", fs::perms::owner_all);
    ChildOptions options;
    options.command = {home_ + "/script"};
    options.log_path = home_ + "/log";
    options.limits = limits;
    absl::StatusOr<Child> child = Child::Spawn(options);
    CHECK(child.ok()) << child.status();
    while (!child->Poll().has_value()) {
      EXPECT_FALSE(child->usage().has_value());
      absl::SleepFor(absl::Milliseconds(5));
    }
    CHECK(child->usage().has_value());
    std::ostringstream log;
    log << std::ifstream(options.log_path).rdbuf();
    return {*child->Poll(), *child->usage(), log.str()};
  }

  // No control groups are there.
  TaskLimits Fallback(const std::vector<int>& cores) {
    return TaskLimits(home_ + "/no_machine", cores);
  }

  const std::string home_ = ::testing::TempDir() + "task_limits_test";
};

TEST_F(TaskLimitsTest, AChildTellsWhatItTook) {
  const End end = Run(
      std::string("for ((i = 0; i < 100000; ++i)); do :; done\n") + kTakeMemory,
      {});
  EXPECT_EQ(end.exit_code, 0) << end.log;
  EXPECT_GT(end.usage.cpu_micros, 20'000);
  EXPECT_LT(end.usage.cpu_micros, 60'000'000);
  EXPECT_GT(end.usage.peak_memory_bytes, 100'000'000);
  EXPECT_LT(end.usage.peak_memory_bytes, 1'000'000'000);
}

TEST_F(TaskLimitsTest, AChildGetsNoMoreDataThanItsLimit) {
  ChildLimits limits;
  limits.data_bytes = 64 << 20;
  const End end = Run(kTakeMemory, limits);
  EXPECT_NE(end.exit_code, 0);
  EXPECT_THAT(end.log, HasSubstr("cannot allocate"));
  // It cannot lift the limit.
  EXPECT_EQ(Run("ulimit -H -d\n", limits).log, "65536\n");
}

TEST_F(TaskLimitsTest, AChildKeepsToItsProcessors) {
  const int last = OwnCores().back();
  ChildLimits limits;
  limits.cores = {last};
  EXPECT_EQ(Run("grep Cpus_allowed_list /proc/self/status\n", limits).log,
            "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
}

TEST_F(TaskLimitsTest, AChildEntersItsGroupOrDoesNotRun) {
  const std::string procs = home_ + "/cgroup.procs";
  std::ofstream(procs) << "";
  const FileDescriptor writable(open(procs.c_str(), O_WRONLY | O_CLOEXEC));
  ChildLimits limits;
  limits.cgroup_procs = writable.get();
  EXPECT_EQ(Run("cat " + procs + "\n", limits).log, "0");
  const FileDescriptor readable(open(procs.c_str(), O_RDONLY | O_CLOEXEC));
  limits.cgroup_procs = readable.get();
  const End end = Run("echo runs\n", limits);
  EXPECT_EQ(end.exit_code, 127);
  EXPECT_EQ(end.log, "cannot put this task under its limits\n");
}

TEST_F(TaskLimitsTest, WithoutGroupsTasksSpreadOverTheProcessors) {
  TaskLimits limits = Fallback({4, 5, 6});
  EXPECT_THAT(limits.means(), HasSubstr("by affinity and RLIMIT_DATA: no"));
  auto two = limits.Add(Limits(1500, 1 << 20), false);
  EXPECT_THAT((*two)->child().cores, ElementsAre(4, 5));
  EXPECT_EQ((*two)->child().data_bytes, 1 << 20);
  EXPECT_EQ((*two)->child().cgroup_procs, -1);
  EXPECT_EQ((*two)->WhyEnded(), "");
  const auto leader = limits.Add(Limits(100, 0), true);
  EXPECT_THAT((*leader)->child().cores, ElementsAre(6));
  EXPECT_EQ((*leader)->child().data_bytes, 0);
  // The leader's counts for little.
  const auto one = limits.Add(Limits(1000, 0), false);
  EXPECT_THAT((*one)->child().cores, ElementsAre(6));
  // What has ended counts no more.
  two->reset();
  const auto another = limits.Add(Limits(1000, 0), false);
  EXPECT_THAT((*another)->child().cores, ElementsAre(4));
}

TEST_F(TaskLimitsTest, NoLimitIsNoneAndTooMuchIsAll) {
  TaskLimits limits = Fallback({1, 0});
  EXPECT_THAT((*limits.Add(Limits(0, 0), false))->child().cores, IsEmpty());
  EXPECT_THAT((*limits.Add(Limits(64'000, 0), false))->child().cores,
              ElementsAre(1, 0));
  TaskLimits unknown = Fallback({});
  EXPECT_THAT((*unknown.Add(Limits(1000, 0), false))->child().cores, IsEmpty());
}

// Where this process may make control groups.
TEST_F(TaskLimitsTest, TheKernelEndsATaskAboveTheMemoryOfItsGroup) {
  TaskLimits limits("", OwnCores());
  if (limits.means().find("RLIMIT_DATA") != std::string::npos) {
    GTEST_SKIP() << "tasks are limited " << limits.means();
  }
  const auto limit = limits.Add(Limits(1000, 64 << 20), false);
  ASSERT_TRUE(limit.ok()) << limit.status();
  EXPECT_EQ(Run(kTakeMemory, (*limit)->child()).exit_code, 137);
  EXPECT_EQ((*limit)->WhyEnded(), "ended by its memory limit of 64 MiB");
}

}  // namespace
}  // namespace paceline
