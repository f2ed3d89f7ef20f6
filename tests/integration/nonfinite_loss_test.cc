// A training that diverges, in every way to run it.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string kDiverging = "optimizer={SGD: {learning_rate: 1.0e+30}}";

// The first step has the finite loss of the seed's model.
constexpr int kFirstBadStep = 2;

struct Way {
  std::string name;
  std::vector<std::string> changes;
  // Another worker may have pushed before a worker's first step.
  bool steps_together = true;
};

const std::vector<Way>& Ways() {
  static const auto& ways = *new std::vector<Way>{
      {"parameter_server", {}, false},
      {"bounded", {"consistency=bounded"}, false},
      {"sync", {"consistency=sync"}},
      {"mirrored", {"strategy=mirrored", "cluster=null", "devices=3"}},
      {"central_storage",
       {"strategy=central_storage", "cluster=null", "devices=2"}},
      {"multi_worker_mirrored",
       {"strategy=multi_worker_mirrored", "cluster={worker: 3}"}}};
  return ways;
}

std::vector<std::string> Arguments(const Way& way,
                                   const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--set", kDiverging};
  for (const auto* changes : {&way.changes, &more}) {
    for (const std::string& change : *changes) {
      arguments.insert(arguments.end(), {"--set", change});
    }
  }
  return arguments;
}

void ExpectStep(const nlohmann::json& loss, bool steps_together) {
  const int step = loss.at("step").get<int>();
  if (steps_together) {
    EXPECT_EQ(step, kFirstBadStep);
  } else {
    EXPECT_GE(step, 1);
    EXPECT_LE(step, kStepsPerEpoch);
  }
}

void ExpectFailure(const SmallJob& job, const std::string& errors,
                   bool steps_together) {
  const nlohmann::json result = job.Result();
  EXPECT_EQ(result.at("state"), "FAILED");
  const nlohmann::json& error = result.at("error");
  EXPECT_EQ(error.at("code"), "OUT_OF_RANGE");
  const auto message = error.at("message").get<std::string>();
  const nlohmann::json& loss = result.at("nonfinite_loss");
  EXPECT_EQ(error.at("task"), loss.at("task"));
  EXPECT_EQ(loss.at("epoch"), 0);
  ExpectStep(loss, steps_together);
  EXPECT_THAT(loss.at("value").get<std::string>(), MatchesRegex("nan|inf"));
  EXPECT_THAT(message,
              AllOf(HasSubstr(loss.at("task").get<std::string>()),
                    HasSubstr("the loss of step " +
                              std::to_string(loss.at("step").get<int>()) + ","),
                    ContainsRegex("is not finite \\((nan|inf)\\)")));
  EXPECT_THAT(errors, HasSubstr("error: " + message));
}

TEST(NonfiniteLossTest, EndsTheJobUnderEveryStrategy) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.name);
    SmallJob job;
    Process run = job.Run(Arguments(way, {}));
    EXPECT_EQ(run.Wait(kJobLimit), 1);
    ExpectFailure(job, run.Errors(), way.steps_together);
  }
}

TEST(NonfiniteLossTest, EndsAJobThatWasStartedByHand) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 1);
  Process ps = cluster.Start("ps", 0);
  Process worker = cluster.Start("worker", 0);
  Process chief = cluster.StartChief({"--set", kDiverging});
  ExpectExit(chief, 1);
  for (Process* task : {&ps, &worker}) EXPECT_EQ(task->Wait(kJobLimit), 0);
  ExpectFailure(job, chief.Errors(), /*steps_together=*/true);
}

TEST(NonfiniteLossTest, IsToldOnceWhereTrainingGoesOn) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.name);
    SmallJob job;
    Process run = job.Run(Arguments(way, {"terminate_on_nan=false"}));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    const nlohmann::json result = job.Result();
    EXPECT_EQ(result.at("state"), "SUCCEEDED");
    EXPECT_TRUE(result.at("history").at(2).at("loss").is_null());
    ExpectStep(result.at("nonfinite_loss"), way.steps_together);
    const std::string text = run.Errors();
    const std::string told = "training goes on (terminate_on_nan: false)";
    const size_t first = text.find(told);
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find(told, first + 1), std::string::npos) << text;
  }
}

TEST(NonfiniteLossTest, OfAJobThatConvergesThereIsNone) {
  SmallJob job;
  Process run = job.Run();
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_TRUE(job.Result().at("nonfinite_loss").is_null());
}

}  // namespace
}  // namespace paceline
