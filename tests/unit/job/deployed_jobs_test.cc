// The example jobs of deploy/jobs.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/job_reader.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"

namespace paceline {
namespace {

// A model in the place of MobileNetV2 without its top, which users bring.
constexpr char kBase[] = R"({"class_name": "Sequential", "config": {"layers": [
    {"class_name": "InputLayer", "config": {"batch_shape": [null, 160, 160, 3]}},
    {"class_name": "Conv2D", "config": {"filters": 2, "kernel_size": 3}}]}})";

TEST(DeployedJobs, ReadsTheExamplesOfDeploy) {
  const std::string base = ::testing::TempDir() + "deployed_jobs_base.json";
  std::ofstream(base) << kBase;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           PACELINE_SOURCE_DIR "/deploy/jobs")) {
    std::vector<std::string> overrides;
    if (entry.path().stem() == "cats_and_dogs") {
      overrides.push_back("model.layers[2].Model.path=" + base);
    }
    const auto job =
        ReadJobFile(entry.path().string(), overrides, {.check_files = false});
    ++count;
    EXPECT_TRUE(job.ok()) << job.status();
  }
  EXPECT_GT(count, 5);
}

// Keras' count_params and len(weights) of the same models.
TEST(DeployedJobs, KnownNetworksHaveTheirVariables) {
  struct Network {
    const char* name;
    size_t variables;
    int64_t parameters;
  };
  for (const Network& network : {Network{"mobilenet_v2", 262, 3'538'984},
                                 Network{"resnet18", 102, 11'689'512 + 9'600},
                                 Network{"resnet50", 320, 25'636'712}}) {
    const auto job =
        ReadJobFile(absl::StrCat(PACELINE_SOURCE_DIR, "/deploy/jobs/",
                                 network.name, ".yaml"),
                    {}, {.check_files = false});
    ASSERT_TRUE(job.ok()) << job.status();
    const auto graph = BuildGraph(job->model());
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(graph->variables.size(), network.variables) << network.name;
    int64_t parameters = 0;
    for (const VariableSpec& variable : graph->variables) {
      parameters += NumElements(variable.shape);
    }
    EXPECT_EQ(parameters, network.parameters) << network.name;
    EXPECT_EQ(graph->output_shape(0), Shape{1000}) << network.name;
  }
}

}  // namespace
}  // namespace paceline
