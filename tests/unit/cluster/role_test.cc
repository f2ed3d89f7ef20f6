#include "common/cluster/role.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/strategy/strategy_traits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

constexpr v1::Strategy kServers = v1::STRATEGY_PARAMETER_SERVER;
constexpr v1::Strategy kWorkers = v1::STRATEGY_MULTI_WORKER_MIRRORED;

// The role of a task in a cluster.
absl::StatusOr<Role> Resolve(const std::string& cluster, const char* type,
                             int index, v1::Strategy strategy) {
  const auto config = ParseTfConfig(absl::StrCat(R"({"cluster":)", cluster,
                                                 R"(,"task":{"type":")", type,
                                                 R"(","index":)", index, "}}"));
  if (!config.ok()) return config.status();
  return ResolveRole(*config, *FindStrategy(strategy));
}

struct Case {
  const char* type;
  int index;
  bool leads;
  bool is_ps_coordinator;
  std::optional<int> rank;
};

void ExpectRoles(const std::string& cluster, v1::Strategy strategy,
                 std::optional<int> world_size,
                 std::initializer_list<Case> cases) {
  for (const Case& each : cases) {
    const auto role = Resolve(cluster, each.type, each.index, strategy);
    ASSERT_TRUE(role.ok()) << role.status();
    const std::string name = absl::StrCat(each.type, "-", each.index);
    EXPECT_EQ(role->leads, each.leads) << name;
    EXPECT_EQ(role->is_ps_coordinator, each.is_ps_coordinator) << name;
    EXPECT_EQ(role->rank, each.rank) << name;
    EXPECT_EQ(role->world_size, world_size) << name;
  }
}

TEST(Role, UnderParameterServersTheChiefOnlyCoordinates) {
  ExpectRoles(R"({"chief":["c:1"],"ps":["p:1"],"worker":["w:1","v:1"],)"
              R"("evaluator":["e:1"]})",
              kServers, 2,
              {{"chief", 0, true, true, std::nullopt},
               {"worker", 0, false, false, 0},
               {"worker", 1, false, false, 1},
               {"ps", 0, false, false, std::nullopt},
               {"evaluator", 0, false, false, std::nullopt}});
}

TEST(Role, WithoutAChiefWorker0Leads) {
  ExpectRoles(R"({"ps":["p:1","q:1"],"worker":["w:1","v:1"]})", kServers, 2,
              {{"worker", 0, true, false, 0},
               {"worker", 1, false, false, 1},
               {"ps", 1, false, false, std::nullopt}});
  ExpectRoles(R"({"worker":["w:1","v:1","u:1"]})", kWorkers, 3,
              {{"worker", 0, true, false, 0}, {"worker", 2, false, false, 2}});
}

TEST(Role, AmongWorkersTheChiefIsRank0) {
  ExpectRoles(R"({"chief":["c:1"],"worker":["w:1","v:1"]})", kWorkers, 3,
              {{"chief", 0, true, false, 0},
               {"worker", 0, false, false, 1},
               {"worker", 1, false, false, 2},
               {"evaluator", 0, false, false, std::nullopt}});
  ExpectRoles(R"({"chief":["c:1"]})", kWorkers, 1,
              {{"chief", 0, true, false, 0}});
}

TEST(Role, RanksHaveNoGaps) {
  ExpectRoles(R"({"worker":{"1":"w:1","4":"v:1"}})", kWorkers, 2,
              {{"worker", 1, true, false, 0}, {"worker", 4, false, false, 1}});
}

TEST(Role, InTheDynamicDialectOnlyTheOwnIndexIsKnown) {
  ExpectRoles(R"({"worker":{"2":"w:1"},"ps":["p:1"]})", kServers, std::nullopt,
              {{"worker", 2, false, false, 2}});
  ExpectRoles(R"({"worker":{"0":"w:1"},"ps":["p:1"]})", kServers, std::nullopt,
              {{"worker", 0, true, false, 0}});
  ExpectRoles(R"({"worker":{},"ps":["p:1"]})", kServers, std::nullopt,
              {{"ps", 4, false, false, std::nullopt}});
}

TEST(Role, AnEvaluatorNeedsNoCluster) {
  const auto role =
      ResolveRole(*ParseTfConfig(R"({"task":{"type":"evaluator","index":0}})"),
                  *FindStrategy(kServers));
  ASSERT_TRUE(role.ok()) << role.status();
  EXPECT_FALSE(role->leads);
  EXPECT_EQ(role->rank, std::nullopt);
  EXPECT_EQ(role->world_size, std::nullopt);
}

TEST(Role, RefusesClustersThatDoNotFitTheStrategy) {
  const struct {
    const char* cluster;
    const char* type;
    v1::Strategy strategy;
    const char* message;
  } cases[] = {
      {R"({"worker":["w:1"]})", "worker", kServers,
       "TF_CONFIG: cluster.ps: strategy parameter_server needs at least 1"},
      {R"({"ps":["p:1"],"chief":["c:1"]})", "ps", kServers,
       "TF_CONFIG: cluster.worker: strategy parameter_server needs at least 1"},
      {R"({"ps":["p:1"],"worker":["w:1"]})", "worker", kWorkers,
       "TF_CONFIG: cluster.ps: only strategy parameter_server has"},
      {R"({"evaluator":["e:1"]})", "evaluator", kWorkers,
       "TF_CONFIG: cluster.worker: expected at least 1 address, got 0"},
  };
  for (const auto& each : cases) {
    const absl::Status status =
        Resolve(each.cluster, each.type, 0, each.strategy).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message));
  }
}

TEST(Cluster, DifferencesAreNamed) {
  const ClusterSpec ours = {{{TaskType::kPs, {{0, "p:1"}, {1, "p:2"}}},
                             {TaskType::kWorker, {{0, "w:1"}}}}};
  ClusterSpec theirs = ours;
  theirs.tasks[TaskType::kEvaluator] = {{0, "e:1"}};
  EXPECT_EQ(Difference(theirs, ours), "");
  theirs.tasks[TaskType::kPs][1] = "p:3";
  EXPECT_EQ(Difference(theirs, ours), "ps-1 at p:3 against ps-1 at p:2");
  theirs.tasks[TaskType::kPs].erase(1);
  EXPECT_EQ(Difference(theirs, ours), "no ps-1 against ps-1 at p:2");
  theirs = ours;
  theirs.tasks[TaskType::kWorker][1] = "w:2";
  EXPECT_EQ(Difference(theirs, ours), "worker-1 at w:2 against no worker-1");
}

}  // namespace
}  // namespace paceline
