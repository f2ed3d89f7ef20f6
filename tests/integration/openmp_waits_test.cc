// How OpenMP's threads wait in a worker: variables that it starts itself anew
// with.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/free_addresses.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Of the environment that the program of a process began with.
std::vector<std::string> WaitVariables(const Process& process) {
  const std::string environment =
      ReadText(absl::StrCat("/proc/", process.pid(), "/environ"));
  std::vector<std::string> variables;
  for (const absl::string_view each : absl::StrSplit(environment, '\0')) {
    if (absl::StartsWith(each, "OMP_WAIT_POLICY=") ||
        absl::StartsWith(each, "GOMP_SPINCOUNT=")) {
      variables.emplace_back(each);
    }
  }
  return variables;
}

TEST(OpenMpWaitsTest, WorkersSetWhatTheUserDoesNot) {
  const SmallJob job;
  const std::vector<std::string> addresses = FreeAddresses(5);
  // Tests have a policy in their environment.
  const auto command = [](const std::string& task) {
    std::vector<std::string> words = {"env", "-u", "OMP_WAIT_POLICY", "-u",
                                      "GOMP_SPINCOUNT"};
    if (task == "worker-1") words.push_back("OMP_WAIT_POLICY=ACTIVE");
    if (task == "worker-2") words.push_back("GOMP_SPINCOUNT=70");
    return words;
  };
  const HandStartedCluster cluster(
      job,
      {{"chief", {addresses[0]}},
       {"ps", {addresses[1]}},
       {"worker", {addresses[2], addresses[3], addresses[4]}}},
      command);
  const Process chief = cluster.StartChief({"--set", "epochs=100000"});
  const Process ps = cluster.Start("ps", 0);
  const Process unset = cluster.Start("worker", 0);
  const Process policy_set = cluster.Start("worker", 1);
  const Process spins_set = cluster.Start("worker", 2);
  // All workers take part by then.
  ASSERT_TRUE(WaitForEpochs(chief, 1)) << chief.Errors();

  EXPECT_THAT(
      WaitVariables(unset),
      UnorderedElementsAre("OMP_WAIT_POLICY=PASSIVE", "GOMP_SPINCOUNT=2000"));
  EXPECT_THAT(WaitVariables(policy_set), ElementsAre("OMP_WAIT_POLICY=ACTIVE"));
  EXPECT_THAT(
      WaitVariables(spins_set),
      UnorderedElementsAre("OMP_WAIT_POLICY=PASSIVE", "GOMP_SPINCOUNT=70"));
}

}  // namespace
}  // namespace paceline
