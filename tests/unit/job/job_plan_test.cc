#include "common/job/job_plan.h"

#include <string>
#include <utility>

#include "common/model/graph.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

v1::Job JobOf(const std::string& optimizer, v1::Strategy strategy) {
  v1::Job job;
  job.mutable_optimizer()->set_class_name(optimizer);
  job.set_strategy(strategy);
  return job;
}

Graph OneVariable(Shape shape,
                  const std::string& name = "embedding/embeddings") {
  Graph graph;
  VariableSpec& variable = graph.variables.emplace_back();
  variable.name = name;
  variable.shape = std::move(shape);
  return graph;
}

TEST(JobPlanTest, TheOptimizerSaysWhetherVariablesAreCut) {
  const auto parts = [](const std::string& optimizer, const std::string& name) {
    const auto plan =
        MakeJobPlan(JobOf(optimizer, v1::STRATEGY_PARAMETER_SERVER),
                    OneVariable({100, 8}, name), /*shard_count=*/4, 4);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan->parts().size();
  };
  EXPECT_EQ(parts("Adam", "dense/kernel"), 4u);
  EXPECT_EQ(parts("Lamb", "dense/kernel"), 1u);
  EXPECT_EQ(parts("Muon", "dense/kernel"), 1u);
  // Muon leaves it to Adam.
  EXPECT_EQ(parts("Muon", "embedding/embeddings"), 4u);
}

// 320 MiB.
TEST(JobPlanTest, RefusesAWholeVariableThatNoCallCarries) {
  const Graph graph = OneVariable({10 << 20, 8});
  const auto make = [&](const std::string& optimizer, v1::Strategy strategy) {
    return MakeJobPlan(JobOf(optimizer, strategy), graph, 1, 4).status();
  };
  const absl::Status refused = make("Lamb", v1::STRATEGY_PARAMETER_SERVER);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "variable embedding/embeddings has 335544320 bytes; Lamb updates "
            "it as a whole, and parameter servers take at most 268435456 bytes "
            "of a whole variable");
  EXPECT_TRUE(make("Lamb", v1::STRATEGY_MIRRORED).ok());
  EXPECT_TRUE(make("Adam", v1::STRATEGY_PARAMETER_SERVER).ok());
}

TEST(JobPlanTest, RefusesAMatrixThatNoServerUpdatesInTime) {
  const auto make = [](Shape shape, v1::Strategy strategy) {
    return MakeJobPlan(JobOf("Muon", strategy),
                       OneVariable(std::move(shape), "dense/kernel"), 1, 4)
        .status();
  };
  const v1::Strategy served = v1::STRATEGY_PARAMETER_SERVER;
  EXPECT_TRUE(make({1024, 1024}, served).ok());
  EXPECT_TRUE(make({100'000, 128}, served).ok());
  EXPECT_EQ(make({2048, 2048}, served).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(make({2048, 2048}, served).message(),
            "variable dense/kernel of shape (2048, 2048): an update by Muon "
            "takes 1.28849e+11 multiplications; parameter servers do at most "
            "5e+10 for an update");
  EXPECT_TRUE(make({2048, 2048}, v1::STRATEGY_MIRRORED).ok());
}

TEST(JobPlanTest, RefusesAnUnknownOptimizer) {
  EXPECT_EQ(
      MakeJobPlan(JobOf("Adamm", v1::STRATEGY_MIRRORED), OneVariable({2}), 1, 4)
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace paceline
