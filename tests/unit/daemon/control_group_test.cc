// Which control groups a daemon makes, in a folder that plays the kernel's.

#include "common/daemon/control_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ControlGroupTest : public ::testing::Test {
 protected:
  ControlGroupTest() {
    fs::remove_all(root_);
    Write("proc/self/cgroup", "0::/service\n");
    Write(kOwn + "/cgroup.controllers", "cpuset cpu io memory pids\n");
    Write(kOwn + "/cgroup.procs", absl::StrCat(getpid(), "\n"));
    Write(kOwn + "/cgroup.subtree_control", "");
    // What the kernel puts into a new group. The groups look left over.
    for (const std::string group : {"/paceline-daemon", "/paceline-task-1"}) {
      for (const std::string file :
           {"/cgroup.procs", "/cgroup.kill", "/cpu.max", "/memory.max"}) {
        Write(kOwn + group + file, "");
      }
    }
  }

  void Write(const std::string& path, const std::string& content) {
    const fs::path file = fs::path(root_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(fs::path(root_) / path).rdbuf();
    return text.str();
  }
  std::string Refusal() {
    const auto parent = ControlGroupParent::Create(root_);
    EXPECT_EQ(parent.status().code(), absl::StatusCode::kFailedPrecondition);
    return std::string(parent.status().message());
  }
  static v1::Resources Limits(uint64_t millicores, uint64_t memory_bytes) {
    v1::Resources limits;
    limits.set_millicores(millicores);
    limits.set_memory_bytes(memory_bytes);
    return limits;
  }

  const std::string kOwn = "sys/fs/cgroup/service";
  const std::string kTask = kOwn + "/paceline-task-1";
  const std::string root_ = ::testing::TempDir() + "control_group_test";
};

TEST_F(ControlGroupTest, TheDaemonMakesRoomAndATaskGetsItsLimits) {
  Write(kTask + "/memory.swap.max", "");
  const auto parent = ControlGroupParent::Create(root_);
  ASSERT_TRUE(parent.ok()) << parent.status();
  EXPECT_EQ(Read(kOwn + "/paceline-daemon/cgroup.procs"),
            absl::StrCat(getpid()));
  EXPECT_EQ(Read(kOwn + "/cgroup.subtree_control"), "+cpu +memory");
  {
    const auto group = (*parent)->Add(Limits(1500, 512 << 20));
    ASSERT_TRUE(group.ok()) << group.status();
    EXPECT_EQ(Read(kTask + "/cpu.max"), "150000 100000");
    EXPECT_EQ(Read(kTask + "/memory.max"), "536870912");
    EXPECT_EQ(Read(kTask + "/memory.swap.max"), "0");
    EXPECT_EQ(write((*group)->procs(), "0", 1), 1);
    EXPECT_EQ(Read(kTask + "/cgroup.procs"), "0");
    Write(kTask + "/cgroup.kill", "");
  }
  // What the task has left is killed.
  EXPECT_EQ(Read(kTask + "/cgroup.kill"), "1");
}

TEST_F(ControlGroupTest, NoLimitWritesNoneAndATinyOneIsTheKernelsLeast) {
  const auto free = ControlGroup::Create(root_ + "/" + kTask, Limits(0, 0));
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_EQ(Read(kTask + "/cpu.max"), "");
  EXPECT_EQ(Read(kTask + "/memory.max"), "");
  const auto tiny = ControlGroup::Create(root_ + "/" + kTask, Limits(1, 0));
  ASSERT_TRUE(tiny.ok()) << tiny.status();
  EXPECT_EQ(Read(kTask + "/cpu.max"), "1000 100000");
  EXPECT_FALSE(fs::exists(root_ + "/" + kTask + "/memory.swap.max"));
}

TEST_F(ControlGroupTest, ATaskThatItsLimitKilledIsRecognised) {
  const auto group =
      ControlGroup::Create(root_ + "/" + kTask, Limits(0, 1536 << 20));
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ((*group)->WhyKilled(), "");
  Write(kTask + "/memory.events", "low 0\nmax 9\noom 1\noom_kill 0\n");
  EXPECT_EQ((*group)->WhyKilled(), "");
  Write(kTask + "/memory.events", "low 0\nmax 9\noom 1\noom_kill 1\n");
  EXPECT_EQ((*group)->WhyKilled(), "ended by its memory limit of 1.5 GiB");
  Write(kTask + "/memory.events", "low 0\nmax 0\noom 0\noom_kill 1\n");
  EXPECT_EQ((*group)->WhyKilled(),
            "killed, since its machine had no memory left");
}

TEST_F(ControlGroupTest, AGroupThatIsLeftOverSaysNothingOfTheNextTask) {
  Write(kTask + "/memory.events", "max 9\noom 1\noom_kill 1\n");
  const auto parent = ControlGroupParent::Create(root_);
  ASSERT_TRUE(parent.ok()) << parent.status();
  EXPECT_EQ(Read(kTask + "/cgroup.kill"), "1") << "its processes are ended";
  const auto group = (*parent)->Add(Limits(0, 512 << 20));
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ((*group)->WhyKilled(), "");
  Write(kTask + "/memory.events", "max 9\noom 2\noom_kill 2\n");
  EXPECT_EQ((*group)->WhyKilled(), "ended by its memory limit of 512 MiB");
}

TEST_F(ControlGroupTest, GroupsOfADaemonThatRunsAreLeftAlone) {
  Write(kOwn + "/paceline-daemon/cgroup.procs", "4711\n");
  EXPECT_THAT(Refusal(), HasSubstr("paceline-daemon is another daemon's"));
  EXPECT_EQ(Read(kTask + "/cgroup.kill"), "");
}

TEST_F(ControlGroupTest, AGroupThatDoesNotTakeALimitIsAnError) {
  fs::remove(root_ + "/" + kTask + "/cpu.max");
  const auto group = ControlGroup::Create(root_ + "/" + kTask, Limits(1000, 0));
  EXPECT_THAT(std::string(group.status().message()),
              HasSubstr("cannot write " + root_ + "/" + kTask + "/cpu.max"));
}

TEST_F(ControlGroupTest, WithoutAGroupOfItsOwnADaemonMakesNone) {
  Write(kOwn + "/cgroup.procs", absl::StrCat("1\n", getpid(), "\n"));
  EXPECT_THAT(Refusal(), HasSubstr("has other processes than this one"));
  Write(kOwn + "/cgroup.controllers", "cpuset memory\n");
  EXPECT_THAT(Refusal(), HasSubstr("lacks the controller cpu"));
  // Version 1, and a group outside what a container sees.
  Write("proc/self/cgroup", "4:memory:/service\n");
  EXPECT_THAT(Refusal(), HasSubstr("has no control group (version 2)"));
  Write("proc/self/cgroup", "0::/../other\n");
  EXPECT_THAT(Refusal(), HasSubstr("has no control group (version 2)"));
}

TEST_F(ControlGroupTest, ADaemonThatMayNotDelegateGoesBack) {
  fs::remove(root_ + "/" + kOwn + "/cgroup.subtree_control");
  Write(kOwn + "/paceline-daemon/cgroup.procs", "");
  EXPECT_THAT(Refusal(), HasSubstr("cgroup.subtree_control"));
  EXPECT_EQ(Read(kOwn + "/paceline-daemon/cgroup.procs"),
            absl::StrCat(getpid()));
  EXPECT_THAT(Read(kOwn + "/cgroup.procs"), HasSubstr(absl::StrCat(getpid())));
}

}  // namespace
}  // namespace paceline
