#include "coordinator/cli/validate.h"

#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using ::nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Printed {
  absl::Status status;
  std::string out;
  std::string messages;
};

Printed Call(const std::string& tf_config, bool as_json,
             std::vector<std::string> overrides = {}) {
  std::ostringstream out;
  std::ostringstream messages;
  const absl::Status status =
      Validate({.job_path = absl::StrCat(PACELINE_SOURCE_DIR,
                                         "/deploy/jobs/fashion_mnist.yaml"),
                .overrides = std::move(overrides),
                .tf_config = tf_config,
                .as_json = as_json},
               out, messages);
  return {status, out.str(), messages.str()};
}

constexpr char kPsCluster[] =
    R"({"cluster":{"chief":["c:1"],"ps":["p"],"worker":["w:1","v:1"]},)"
    R"("task":{"type":"chief","index":0}})";

TEST(Validate, PrintsTheClusterAsJson) {
  const Printed printed = Call(kPsCluster, true);
  ASSERT_TRUE(printed.status.ok()) << printed.status;
  const json result = json::parse(printed.out);
  EXPECT_EQ(result["cluster"],
            json::parse(R"({"chief":{"0":"c:1"},"ps":{"0":"p:2222"},)"
                        R"("worker":{"0":"w:1","1":"v:1"}})"));
  EXPECT_EQ(result["task"], json::parse(R"({"type":"chief","index":0})"));
  EXPECT_EQ(result["is_chief"], true);
  EXPECT_EQ(result["is_ps_coordinator"], true);
  EXPECT_EQ(result["rank"], nullptr);
  EXPECT_EQ(result["world_size"], 2);
  EXPECT_EQ(result["parameters"], 347'146);
  EXPECT_EQ(result["job"]["model"]["layers"][1]["Conv2D"]["filters"], 32);
  EXPECT_THAT(printed.messages,
              HasSubstr("cluster.ps[0]: \"p\" has no port; taking p:2222"));
}

TEST(Validate, PrintsThePhasesInsteadOfTheEpochs) {
  const Printed printed =
      Call("", false,
           {"epochs=null",
            "phases=[{name: head, epochs: 3}, {name: tune, initial_epoch: 3, "
            "epochs: 5, optimizer: {RMSprop: {}}}]"});
  ASSERT_TRUE(printed.status.ok()) << printed.status;
  EXPECT_THAT(printed.out, HasSubstr("head, epochs 0 to 3, Adam"));
  EXPECT_THAT(printed.out, HasSubstr("tune, epochs 3 to 5, RMSprop"));
  EXPECT_THAT(printed.out, Not(HasSubstr("epochs   ")));
}

TEST(Validate, PrintsLinesForPeople) {
  const Printed printed = Call(kPsCluster, false);
  ASSERT_TRUE(printed.status.ok()) << printed.status;
  EXPECT_THAT(printed.out, HasSubstr("strategy    parameter_server\n"));
  EXPECT_THAT(printed.out,
              HasSubstr("6 layers, 347146 parameters, (28, 28, 1) -> (10,)"));
  EXPECT_THAT(
      printed.out,
      HasSubstr(
          "train       "
          "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz\n"
          "            "
          "/usr/share/datasets/fashion-mnist/train-labels-idx1-ubyte.gz\n"
          "test        "
          "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz\n"));
  EXPECT_THAT(printed.out, HasSubstr("device      auto, float32\n"));
  EXPECT_THAT(printed.out, HasSubstr("worker-1    v:1\n"));
  EXPECT_THAT(printed.out,
              HasSubstr("this task   chief-0, leads, only coordinates\n"));
}

TEST(Validate, PrintsHowReplicasDivideTheData) {
  const Printed printed = Call("", false, {"data.train.auto_shard_policy=off"});
  ASSERT_TRUE(printed.status.ok()) << printed.status;
  EXPECT_THAT(
      printed.out,
      HasSubstr(
          "train       auto_shard_policy: off\n"
          "            "
          "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz\n"));
  EXPECT_THAT(Call(kPsCluster, false).out, Not(HasSubstr("auto_shard")));
}

TEST(Validate, TellsTheRankInAClusterOfWorkers) {
  const Printed printed =
      Call(R"({"cluster":{"chief":["c:1"],"worker":["w:1"]},)"
           R"("task":{"type":"worker","index":0}})",
           true, {"strategy=multi_worker_mirrored", "cluster={worker: 2}"});
  ASSERT_TRUE(printed.status.ok()) << printed.status;
  const json result = json::parse(printed.out);
  EXPECT_EQ(result["is_chief"], false);
  EXPECT_EQ(result["rank"], 1);
  EXPECT_EQ(result["world_size"], 2);
}

TEST(Validate, RefusesABadJobOrTfConfig) {
  Printed printed = Call("", false, {"epochs=0"});
  EXPECT_EQ(printed.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(printed.out, IsEmpty());
  printed = Call("{", true);
  EXPECT_EQ(printed.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(printed.out, IsEmpty());
}

}  // namespace
}  // namespace paceline
