#include "common/keras/model_config.h"

#include <string>
#include <vector>

#include "common/config/json_reader.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Status ErrorOf(const std::string& json) {
  const auto config = ReadJson(json, "config.json", 1 << 20);
  EXPECT_TRUE(config.ok()) << config.status();
  return ReadModelConfig(*config, Path()).status();
}

std::string Layer(const std::string& name, const std::string& input) {
  return absl::StrCat(
      R"({"class_name": "ReLU", "config": {}, "name": ")", name,
      R"(", "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__",
      "config": {"keras_history": [")",
      input, R"(", 0, 0]}}], "kwargs": {}}]})");
}

std::string Functional(const std::string& layers, const std::string& output) {
  return absl::StrCat(
      R"({"class_name": "Functional", "config": {"name": "f", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 3]},
       "name": "in", "inbound_nodes": []}, )",
      layers, R"(], "input_layers": ["in", 0, 0], "output_layers": [")", output,
      R"(", 0, 0]}})");
}

TEST(ModelConfig, TakesASequentialModelAsItWasCompiled) {
  const auto job = JobOf(KerasFixture("sequential.keras"));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->model().name(), "small");
  EXPECT_TRUE(IsSequential(job->model()));
  const Graph graph = GraphOf(*job);
  std::vector<std::string> names;
  for (const auto& layer : graph.layers) names.push_back(layer->name);
  EXPECT_THAT(names, ElementsAre("input_layer", "first", "batch_normalization",
                                 "dropout", "flatten", "dense"));
  EXPECT_EQ(job->loss().class_name(), "SparseCategoricalCrossentropy");
  EXPECT_EQ(job->optimizer().class_name(), "Adam");
  ASSERT_EQ(job->metrics_size(), 1);
  EXPECT_EQ(job->metrics(0).class_name(), "accuracy");
  EXPECT_EQ(job->weights(), KerasFixture("sequential.keras"));
  EXPECT_EQ(job->initial_iterations(), 3u);
}

TEST(ModelConfig, TakesBranchesAndOperators) {
  const auto job =
      JobOf(KerasFixture("functional.keras"),
            "loss: sparse_categorical_crossentropy\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_FALSE(IsSequential(job->model()));
  const Graph graph = GraphOf(*job);
  ASSERT_EQ(graph.nodes.size(), 10u);
  EXPECT_EQ(graph.nodes[0].layer->name, "pixels");
  EXPECT_EQ(graph.nodes[graph.outputs[0]].layer->class_name(), "Dense");
}

TEST(ModelConfig, TheJobHasTheLastWord) {
  const auto job = JobOf(KerasFixture("sequential.keras"),
                         "optimizer: {SGD: {learning_rate: 1}}\nmetrics: []\n"
                         "weights: null\n");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->optimizer().class_name(), "SGD");
  EXPECT_EQ(job->metrics_size(), 0);
  EXPECT_EQ(job->weights(), "");
  EXPECT_EQ(job->initial_iterations(), 0u);
  EXPECT_EQ(job->loss().class_name(), "SparseCategoricalCrossentropy");
}

TEST(ModelConfig, RefusesByNameWhatItCannotUse) {
  const std::pair<const char*, const char*> cases[] = {
      {"shared.keras",
       "inbound_nodes: layers that are called twice are not supported yet"},
      {"two_inputs.keras",
       "config.input_layers: models with 2 input_layers are not supported yet"},
      {"nested.keras",
       "config.layers[1]: models in models are not supported yet"},
      {"code.keras",
       "config.layers[1]: a Lambda layer holds Python code, which is never "
       "run"},
  };
  for (const auto& [name, message] : cases) {
    const absl::Status status =
        JobOf(KerasFixture(name), "loss: mse\noptimizer: sgd\n").status();
    const std::string where = absl::StrCat(
        "/jobs/job.yaml:2: model: ", KerasFixture(name), ": config.json: ");
    EXPECT_THAT(std::string(status.message()), HasSubstr(where)) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << name;
  }
}

TEST(ModelConfig, RefusesWhatKerasWouldNotWrite) {
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "expected a map"},
      {R"({"class_name": "Dense"})", "class_name: is \"Dense\", expected"},
      {R"({"class_name": "Sequential"})", "config: missing"},
      {R"({"class_name": "Sequential", "config": {}})",
       "config.layers: missing; expected a list"},
      {R"({"class_name": "Sequential", "config": {"layers": ["Dense"]}})",
       "has neither an InputLayer nor build_input_shape"},
      {Functional(Layer("a", "b") + "," + Layer("b", "a"), "b"),
       "config.layers[1]: the layer reads itself, by a circle of layers"},
      {Functional(Layer("a", "other"), "a"),
       "config.layers[1].inbound_nodes: there is no layer \"other\""},
      {Functional(Layer("a", "in") + "," + Layer("b", "in"), "a"),
       "config.output_layers: other layers read the output of \"a\""},
  };
  for (const auto& [json, message] : cases) {
    const absl::Status status = ErrorOf(json);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << json;
  }
}

}  // namespace
}  // namespace paceline
