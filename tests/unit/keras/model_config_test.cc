#include "common/keras/model_config.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "common/config/json_reader.h"
#include "common/model/layers/leaky_relu.h"
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

TEST(ModelConfig, TakesASequentialModelAsItWasCompiled) {
  const auto job = JobOf(KerasFixture("sequential.keras"));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->model().name(), "small");
  const Graph graph = GraphOf(*job);
  EXPECT_TRUE(graph.tree.is_sequential);
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
  const Graph graph = GraphOf(*job);
  EXPECT_FALSE(graph.tree.is_sequential);
  ASSERT_EQ(graph.nodes.size(), 10u);
  EXPECT_EQ(graph.nodes[0].layer->name, "pixels");
  EXPECT_EQ(graph.nodes[graph.outputs[0]].layer->class_name(), "Dense");
}

TEST(ModelConfig, TakesModelsInModels) {
  const auto job = JobOf(KerasFixture("nested.keras"));
  ASSERT_TRUE(job.ok()) << job.status();
  // As it reaches a task.
  v1::Job sent;
  ASSERT_TRUE(sent.ParseFromString(job->SerializeAsString()));
  const Graph graph = GraphOf(sent);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.layer->name);
  EXPECT_THAT(names, ElementsAre("pixels", "scale", "base/features",
                                 "base/norm", "base/pool", "head/features",
                                 "tail/wide", "tail/inner/narrow"));
  for (const VariableSpec& variable : graph.variables) {
    EXPECT_EQ(variable.update == VariableUpdate::kNone,
              absl::StartsWith(variable.name, "base/"))
        << variable.name;
  }
  const ModelTree& tree = graph.tree;
  ASSERT_EQ(tree.children.size(), 5u);
  EXPECT_EQ(tree.children[2].class_name(), "Functional");
  EXPECT_EQ(tree.children[3].class_name(), "Sequential");
  EXPECT_EQ(tree.children[3].model->children[1].name, "features");
}

// As Keras writes base.trainable = False, base.layers[1].trainable = True.
TEST(ModelConfig, EachLayerOfAModelInTheModelSaysWhetherItIsTrained) {
  const std::string dense =
      R"({"class_name": "Dense", "config": {"name": "dense", "units": 2,
      "trainable": TRAINED}})";
  const std::string inner = absl::StrCat(
      R"({"class_name": "Sequential", "config": {"name": "base", "trainable":
      false, "layers": [{"class_name": "InputLayer", "config": {"batch_shape":
      [null, 3]}}, )",
      absl::StrReplaceAll(dense, {{"TRAINED", "true"}}), ", ",
      absl::StrReplaceAll(dense, {{"TRAINED", "false"}, {"dense", "frozen"}}),
      "]}}");
  const auto graph = GraphOfConfig(absl::StrCat(
      R"({"class_name": "Sequential", "config": {"layers": [{"class_name":
      "InputLayer", "config": {"batch_shape": [null, 3]}}, )",
      inner, "]}}"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->variables[0].update, VariableUpdate::kGradient);
  EXPECT_EQ(graph->variables[2].update, VariableUpdate::kNone);
}

// Classes that only jobs have, and a Functional's layer without a call.
TEST(ModelConfig, RefusesClassesOfJobsAndLayersWithoutACall) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"class_name": "Call", "config": {"layer": "in"}, "name": "c",
       "inbound_nodes": []})",
       "config.layers[1]: is a class of jobs, not of Keras"},
      {R"({"class_name": "ReLU", "config": {}, "name": "c",
       "inbound_nodes": []})",
       "config.layers[1].inbound_nodes: empty; expected the call"}};
  for (const auto& [layer, message] : cases) {
    EXPECT_THAT(std::string(ErrorOf(FunctionalConfig(layer, "c")).message()),
                HasSubstr(message));
  }
}

TEST(ModelConfig, TakesLayersAndModelsThatAreCalledAgain) {
  const auto job =
      JobOf(KerasFixture("shared.keras"), "loss: mse\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const Graph graph = GraphOf(*job);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.layer->name);
  EXPECT_THAT(names, ElementsAre("row", "tower", "tower", "branch/inner",
                                 "branch/inner", "sum", "pair/half/deep",
                                 "pair/half/deep", "branch/inner"));
  EXPECT_THAT(graph.nodes[5].inputs, ElementsAre(3, 4, 1));
  EXPECT_EQ(graph.nodes[8].call, 2);
  EXPECT_EQ(graph.variables.size(), 6u);
}

TEST(ModelConfig, TakesModelsInTheModelWithSeveralOutputs) {
  const auto job = JobOf(KerasFixture("parts.keras"),
                         "loss: {sum: mse, split: mse}\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const Graph graph = GraphOf(*job);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.layer->name);
  ASSERT_THAT(names, ElementsAre("row", "before", "split/left", "split/right",
                                 "split/left", "split/right", "all", "sum"));
  EXPECT_THAT(graph.nodes[6].inputs, ElementsAre(3, 2, 4));
  EXPECT_THAT(graph.outputs, ElementsAre(7, 3));
  EXPECT_EQ(graph.output_name(1), "split");
}

TEST(ModelConfig, TakesModelsOfKeras2) {
  const auto job = JobOf(KerasFixture("keras2_sequential.keras"));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->optimizer().class_name(), "adam");
  EXPECT_EQ(job->initial_iterations(), 1u);
  const Graph graph = GraphOf(*job);
  EXPECT_TRUE(graph.tree.is_sequential);
  EXPECT_EQ(graph.input_shape(0), (Shape{4, 4, 1}));
  const auto& rectifier = dynamic_cast<const LeakyReLU&>(*graph.layers[3]);
  EXPECT_NEAR(rectifier.negative_slope, 0.1, 1e-6);
}

TEST(ModelConfig, TakesFunctionalModelsOfKeras2) {
  for (const std::string file :
       {"keras2_functional.keras", "keras2_functional.json"}) {
    SCOPED_TRACE(file);
    const auto job = JobOf(KerasFixture(file), "loss: mse\noptimizer: sgd\n");
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->weights().empty(), absl::EndsWith(file, ".json"));
    const Graph graph = GraphOf(*job);
    std::vector<std::string> classes;
    for (const Node& node : graph.nodes) {
      classes.emplace_back(node.layer->class_name());
    }
    EXPECT_THAT(classes,
                ElementsAre("InputLayer", "Conv2D", "BatchNormalization", "Add",
                            "Dense", "Dense", "Rescaling", "Add", "Rescaling",
                            "Rescaling", "Dense"));
    EXPECT_THAT(graph.nodes[7].inputs, ElementsAre(6, 3));
    EXPECT_EQ(graph.variables[0].update, VariableUpdate::kNone);
  }
}

TEST(ModelConfig, RefusesATrainedLayerOfKeras2InInferenceMode) {
  const std::string layer =
      R"({"class_name": "BatchNormalization", "config": {"name": "norm"TRAINABLE},
      "name": "norm", "inbound_nodes": [[["in", 0, 0, {"training": false}]]]})";
  const std::string model = absl::StrReplaceAll(
      FunctionalConfig(layer, "norm"), {{"batch_shape", "batch_input_shape"}});
  EXPECT_EQ(ErrorOf(absl::StrReplaceAll(
                model, {{"TRAINABLE", R"(, "trainable": false)"}})),
            absl::OkStatus());
  const absl::Status status =
      ErrorOf(absl::StrReplaceAll(model, {{"TRAINABLE", ""}}));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("config.layers[1]: calls with training=false of layers "
                        "that are trained or drop at random"));
}

// What Keras 3 would compute in another way.
TEST(ModelConfig, RefusesOtherMeaningsOfKeras2) {
  const auto error_of = [](const std::string& layer) {
    return std::string(
        ErrorOf(absl::StrReplaceAll(FunctionalConfig(layer, "x"),
                                    {{"batch_shape", "batch_input_shape"}}))
            .message());
  };
  const auto call = [](const std::string& keywords) {
    return absl::StrCat(R"(, "name": "x", "inbound_nodes": [[["in", 0, 0, )",
                        keywords, "]]]}");
  };
  EXPECT_THAT(
      error_of(R"({"class_name": "Dense", "config": {"units": 2,
               "activation": "hard_sigmoid"})" +
               call("{}")),
      HasSubstr("config.layers[1].config.activation: hard_sigmoid of Keras 2 "
                "is clip(0.2 x + 0.5, 0, 1)"));
  EXPECT_THAT(error_of(R"({"class_name": "Dropout", "config": {"rate": 0.5,
                       "trainable": false})" +
                       call(R"({"training": false})")),
              HasSubstr("calls with training=false"));
  EXPECT_THAT(error_of(R"({"class_name": "BatchNormalization", "config":
                       {"trainable": false})" +
                       call(R"({"training": true})")),
              HasSubstr("calls with training=true"));
  EXPECT_THAT(error_of(R"({"class_name": "TFOpLambda", "config": {"function":
                       "math.negative"})" +
                       call("{}")),
              HasSubstr("calls of the function \"math.negative\""));
}

TEST(ModelConfig, TakesKeysThatOnlyKeras2Has) {
  const auto job =
      JobOf(KerasFixture("keras2_layers.json"), "loss: mse\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(GraphOf(*job).output_shape(0), (Shape{3}));
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

TEST(ModelConfig, SoDoOverrides) {
  const auto read = [](const std::string& override_text) {
    return ReadJob(JobText(KerasFixture("sequential.keras")), "/jobs/job.yaml",
                   {override_text}, {.check_files = false});
  };
  auto job = read("weights=null");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->initial_iterations(), 0u);
  // Another optimizer cannot go on from Adam's slots.
  job = read("optimizer={Ftrl: {}}");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->initial_iterations(), 0u);
  // But a change of its options leaves it the same.
  job = read("optimizer.config.learning_rate=0.5");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->initial_iterations(), 3u);
  EXPECT_EQ(
      job->optimizer().config().fields().at("learning_rate").number_value(),
      0.5);
}

// A layer of attention that reads `arguments` and `keywords`.
std::string Attention(const std::string& keywords,
                      const std::string& arguments = "") {
  return absl::StrCat(R"({"class_name": "MultiHeadAttention", "name": "m",
      "config": {"num_heads": 2, "key_dim": 3}, "inbound_nodes": [{"args": [)",
                      arguments, R"(], "kwargs": {)", keywords, "}}]}");
}

std::string Tensor(const std::string& layer) {
  return absl::StrCat(R"({"class_name": "__keras_tensor__",
      "config": {"keras_history": [")",
                      layer, "\", 0, 0]}}");
}

std::string Tensor(const std::string& keyword, const std::string& layer) {
  return absl::StrCat("\"", keyword, "\": ", Tensor(layer));
}

TEST(ModelConfig, TakesArgumentsOfCallsByKeyword) {
  const auto json = ReadJson(
      FunctionalConfig(ReluConfig("a", "in") + "," +
                           Attention(absl::StrCat(
                               Tensor("value", "in"), ",", Tensor("query", "a"),
                               R"(, "use_causal_mask": true, "training": true,
                            "return_attention_scores": false)")),
                       "m"),
      "config.json", 1 << 20);
  ASSERT_TRUE(json.ok()) << json.status();
  const auto config = ReadModelConfig(*json, Path());
  ASSERT_TRUE(config.ok()) << config.status();
  const Value& last = config->model.Find("layers")->as_list().back();
  EXPECT_EQ(*last.Find("inputs"), (Value::List{"a", "in"}));
  const Value& attention = *last.Find("MultiHeadAttention");
  EXPECT_EQ(*attention.Find("use_causal_mask"), Value(true));
  EXPECT_EQ(*attention.Find("return_attention_scores"), Value(false));
  EXPECT_EQ(attention.Find("training"), nullptr);
}

TEST(ModelConfig, RefusesTensorsByKeywordWhoseOrderKerasChanges) {
  const std::string keywords =
      absl::StrCat(Tensor("query", "a"), ",", Tensor("value", "in"), ",",
                   Tensor("key", "in"));
  const absl::Status status = ErrorOf(
      FunctionalConfig(ReluConfig("a", "in") + "," + Attention(keywords), "m"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("config.layers[2].inbound_nodes[0].kwargs: different "
                        "tensors by keyword in another order than query, "
                        "value, key and masks (give all but masks by position) "
                        "are not supported yet"));
}

TEST(ModelConfig, TakesTensorsOfAttentionByTheNamesOfTheirKeywords) {
  const std::pair<std::string, Value::List> cases[] = {
      {Attention(Tensor("value", "in"), Tensor("a")), {"a", "in"}},
      {Attention(Tensor("key", "b"), Tensor("a") + "," + Tensor("in")),
       {"a", "in", "b"}},
      {Attention(R"("key": null)", Tensor("a") + "," + Tensor("in")),
       {"a", "in"}},
      // Keras comes to "in" first, by whichever keyword.
      {Attention(Tensor("query", "in") + "," + Tensor("value", "a") + "," +
                 Tensor("key", "in")),
       {"in", "a", "in"}},
      // Masks come last, in the order of their names.
      {Attention(
           Tensor("value_mask", "b") + "," + Tensor("attention_mask", "in"),
           Tensor("a") + "," + Tensor("in")),
       {"a", "in", "in", "b"}}};
  for (const auto& [attention, inputs] : cases) {
    const auto json =
        ReadJson(FunctionalConfig(ReluConfig("a", "in") + "," +
                                      ReluConfig("b", "a") + "," + attention,
                                  "m"),
                 "config.json", 1 << 20);
    ASSERT_TRUE(json.ok()) << json.status();
    const auto config = ReadModelConfig(*json, Path());
    ASSERT_TRUE(config.ok()) << config.status();
    const Value& last = config->model.Find("layers")->as_list().back();
    EXPECT_EQ(*last.Find("inputs"), inputs) << attention;
  }
}

TEST(ModelConfig, RefusesOtherTensorsOfACall) {
  const std::string two = Tensor("a") + "," + Tensor("in");
  std::string relu = ReluConfig("m", "a");
  absl::StrReplaceAll(
      {{R"("kwargs": {})",
        absl::StrCat(R"("kwargs": {)", Tensor("query", "in"), "}")}},
      &relu);
  const std::pair<std::string, const char*> cases[] = {
      {Attention(Tensor("training", "in"), two),
       "kwargs.training: calls of \"m\" with this keyword argument (by keyword "
       "it reads query, value, key, attention_mask, key_mask, query_mask, "
       "value_mask) are not supported yet"},
      {Attention(R"("attention_mask": 1)", two),
       "kwargs.attention_mask: calls of \"m\" with this keyword argument are "
       "not supported yet"},
      {relu,
       "kwargs.query: calls of \"m\" with this keyword argument (give tensors "
       "by position) are not supported yet"},
      {Attention(Tensor("value", "in"), two),
       "kwargs.value: is also given by position"},
      {Attention(Tensor("key", "in"), Tensor("a")),
       "kwargs.value: missing; expected a tensor"},
      // The fourth is a mask.
      {Attention("", two + ", null, " + Tensor("in")),
       "args[3]: calls of \"m\" with other tensors than one each for query, "
       "value, key are not supported yet"},
      {Attention("", "[" + two + "]"), "args[0]: calls of \"m\" with other"}};
  for (const auto& [layer, message] : cases) {
    const absl::Status status =
        ErrorOf(FunctionalConfig(ReluConfig("a", "in") + "," + layer, "m"));
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr(absl::StrCat("config.layers[2].inbound_nodes[0].", message)));
  }
}

// An entry of an operation on "input" and, if any, a number.
std::string Operation(const std::string& class_name, const std::string& name,
                      const std::string& input,
                      const std::string& number = "") {
  return absl::StrCat(
      R"({"module": "keras.src.ops.numpy", "class_name": ")", class_name,
      R"(", "config": {"axis": -1}, "name": ")", name,
      R"(", "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__",
      "config": {"keras_history": [")",
      input, R"(", 0, 0]}})", number.empty() ? "" : ", ", number,
      R"(], "kwargs": {}}]})");
}

// A layer that reads `input` under the mask `mask`.
std::string Masked(const std::string& input, const std::string& mask) {
  return absl::StrCat(
      R"({"class_name": "GlobalAveragePooling1D", "name": "g", "config": {},
      "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__", "config":
      {"keras_history": [")",
      input, R"(", 0, 0]}}], "kwargs": {)", Tensor("mask", mask), "}}]}");
}

std::string Masking(const std::string& input) {
  return absl::StrCat(
      R"({"class_name": "Masking", "name": "m", "config": {"mask_value": 0.5},
      "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__", "config":
      {"keras_history": [")",
      input, R"(", 0, 0]}}], "kwargs": {}}]})");
}

TEST(ModelConfig, LeavesOutTheOperationsOfMasks) {
  const auto json = ReadJson(
      FunctionalConfig(
          absl::StrCat(Masking("in"), ",",
                       Operation("NotEqual", "n", "in", "0.5"), ",",
                       Operation("Any", "any", "n"), ",", Masked("m", "any")),
          "g"),
      "config.json", 1 << 20);
  ASSERT_TRUE(json.ok()) << json.status();
  const auto config = ReadModelConfig(*json, Path());
  ASSERT_TRUE(config.ok()) << config.status();
  const Value::List& layers = config->model.Find("layers")->as_list();
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(*layers[2].Find("inputs"), Value::List{"m"});
  EXPECT_EQ(*layers[2].Find("masked_by"), Value::List{"m"});
}

TEST(ModelConfig, RefusesMasksThatNoLayerMade) {
  const std::string masking = Masking("in") + ",";
  const std::string reader = "," + Masked("m", "n");
  for (const std::string& layers :
       {// Another number, or tensor.
        masking + Operation("NotEqual", "n", "in", "0.25") + reader,
        masking + Operation("NotEqual", "n", "m", "0.5") + reader,
        // Of each number, where Masking has one of each step.
        masking + Operation("NotEqual", "n", "in", "0.5") + reader,
        // Another operation.
        masking + Operation("Less", "n", "in", "0.5") + reader,
        // Nothing, and itself.
        masking + Masked("m", "n"),
        masking + Operation("Any", "n", "o") + "," +
            Operation("Any", "o", "n") + "," +
            Operation("NotEqual", "x", "in", "0.5") + reader}) {
    const absl::Status status = ErrorOf(FunctionalConfig(layers, "g"));
    EXPECT_FALSE(status.ok()) << layers;
  }
  EXPECT_THAT(
      std::string(
          ErrorOf(
              FunctionalConfig(
                  masking + Operation("NotEqual", "n", "in", "0.25") + reader,
                  "g"))
              .message()),
      HasSubstr("kwargs.mask: masks that no Embedding, Masking or Concatenate "
                "makes are not supported yet"));
}

TEST(ModelConfig, TakesMasksOfAttentionAsItsLastInputs) {
  const std::string two = Tensor("a") + "," + Tensor("in");
  const auto read = [&](const std::string& keywords) {
    return ReadJson(
        FunctionalConfig(ReluConfig("a", "in") + "," +
                             Operation("NotEqual", "n", "in", "0.5") + "," +
                             Attention(keywords, two),
                         "m"),
        "config.json", 1 << 20);
  };
  const auto refused = ReadModelConfig(*read(Tensor("key_mask", "n")), Path());
  EXPECT_THAT(
      std::string(refused.status().message()),
      HasSubstr("config.layers[3].inbound_nodes[0].kwargs.key_mask: masks that "
                "operations such as not_equal compute (give an Input or the "
                "output of a layer) are not supported yet"));
  const auto json =
      ReadJson(FunctionalConfig(ReluConfig("a", "in") + "," +
                                    Attention(Tensor("value_mask", "in") + "," +
                                                  Tensor("attention_mask", "a"),
                                              two),
                                "m"),
               "config.json", 1 << 20);
  const auto config = ReadModelConfig(*json, Path());
  ASSERT_TRUE(config.ok()) << config.status();
  const Value& last = config->model.Find("layers")->as_list().back();
  EXPECT_EQ(*last.Find("inputs"), (Value::List{"a", "in", "a", "in"}));
  EXPECT_EQ(*last.Find("MultiHeadAttention")->Find("mask_inputs"),
            (Value::List{"attention_mask", "value_mask"}));
}

TEST(ModelConfig, TakesSeveralInputs) {
  const auto job =
      JobOf(KerasFixture("two_inputs.keras"), "loss: mse\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(GraphOf(*job).inputs.size(), 2u);
}

TEST(ModelConfig, RefusesByNameWhatItCannotUse) {
  const std::pair<const char*, const char*> cases[] = {
      {"code.keras",
       "config.layers[1]: a Lambda layer holds Python code, which is never "
       "run"},
      {"shared_by_two.keras",
       "config.layers[2].config.layers[1]: the layer \"common\" is in two of "
       "the models, which Keras itself does not load"},
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

// The user's class may compute something else than Keras' of the same name.
TEST(ModelConfig, RefusesAClassOfTheUsersOwn) {
  std::string layer = ReluConfig("a", "in");
  layer.insert(1, R"("module": null, "registered_name": "mine>ReLU", )");
  const absl::Status status = ErrorOf(FunctionalConfig(layer, "a"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("config.layers[1]: the class \"mine>ReLU\" is none of "
                        "Keras'"));
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
      {FunctionalConfig(ReluConfig("a\\u001b[31m", "in"), "a"),
       "config.layers[1].name: the name a\\x1b[31m has control characters"},
      {FunctionalConfig(ReluConfig("a/b", "in"), "a/b"),
       "config.layers[1].name: the layer \"a/b\" has a \"/\" in its name"},
      {FunctionalConfig(ReluConfig("a", "b") + "," + ReluConfig("b", "a"), "b"),
       "config.layers[1]: the layer reads itself, by a circle of layers"},
      {FunctionalConfig(ReluConfig("a", "other"), "a"),
       "config.layers[1].inbound_nodes: there is no layer \"other\""},
      {FunctionalConfig(ReluConfig("a", "in"), "b"),
       "config.output_layers: there is no layer \"b\""},
  };
  for (const auto& [json, message] : cases) {
    const absl::Status status = ErrorOf(json);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << json;
  }
}

}  // namespace
}  // namespace paceline
