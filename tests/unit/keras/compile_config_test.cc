// What a model was compiled with, read from its config.
#include "common/keras/compile_config.h"

#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "common/config/json_reader.h"
#include "common/keras/model_config.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

TEST(CompileConfigTest, WhatItWasCompiledWithCountsOnlyIfTheJobDoesNotSayIt) {
  const std::string model =
      R"({"class_name": "Sequential", "config": {"layers": [{"class_name":
      "InputLayer", "config": {"batch_shape": [null, 3]}}]}, "compile_config": )";
  const std::pair<const char*, const char*> cases[] = {
      {R"({"loss": {"class_name": "function", "module": "builtins",
        "config": "mean_squared_error"}}})",
       ""},
      {R"({"loss": ["mse"]}})", ""},
      {R"({"loss": {"only": "mse"}}})", ""},
      {R"({"loss": ["mse", "mae"]}})",
       "compile_config.loss: expected one value, since the model has one "
       "output"},
      {R"({"loss": {"class_name": "Loss", "module": "mine",
        "registered_name": "mine>Loss"}}})",
       "compile_config.loss: the class \"mine>Loss\" is none of Keras'"}};
  for (const auto& [compiled, error] : cases) {
    const auto json = ReadJson(model + compiled, "config.json", 1 << 20);
    ASSERT_TRUE(json.ok()) << json.status();
    const auto config = ReadModelConfig(*json, Path());
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->compile.loss.ok(), std::string(error).empty())
        << compiled;
    EXPECT_THAT(std::string(config->compile.loss.status().message()),
                HasSubstr(error));
    EXPECT_TRUE(!config->compile.loss.ok() || config->compile.loss->is_string())
        << compiled;
  }
}

// What `model`, the JSON of one, was compiled with.
CompileConfig CompiledWith(std::string model, const std::string& compile) {
  model.pop_back();
  const auto json =
      ReadJson(absl::StrCat(model, ", \"compile_config\": ", compile, "}"),
               "config.json", 1 << 20);
  EXPECT_TRUE(json.ok()) << json.status();
  const auto config = ReadModelConfig(*json, Path());
  EXPECT_TRUE(config.ok()) << config.status();
  return config->compile;
}

TEST(CompileConfigTest, AMapForTheOnlyOutputHasOneKey) {
  const std::string model = FunctionalConfig(ReluConfig("a", "in"), "a");
  const CompileConfig one = CompiledWith(
      model, R"({"loss": {"a": "mse"}, "metrics": {"a": ["mae"]}})");
  EXPECT_EQ(*one.loss, Value("mse"));
  EXPECT_EQ(*one.metrics, Value(Value::List{"mae"}));
  const CompileConfig none =
      CompiledWith(model, R"({"loss": {}, "metrics": {}})");
  EXPECT_THAT(std::string(none.loss.status().message()),
              HasSubstr("compile_config.loss: has no key; expected one, "
                        "since the model has one output, \"a\""));
  ASSERT_TRUE(none.metrics.ok()) << none.metrics.status();
  EXPECT_TRUE(none.metrics->is_null());
  const CompileConfig several = CompiledWith(
      model, R"({"loss": "mse", "metrics": {"a": ["mae"], "b": ["mse"]}})");
  EXPECT_THAT(
      std::string(several.metrics.status().message()),
      HasSubstr("compile_config.metrics: has the keys \"a, b\"; expected one, "
                "since the model has one output, \"a\""));
}

TEST(CompileConfigTest, TakesWeightedMetrics) {
  const std::string model = FunctionalConfig(ReluConfig("a", "in"), "a");
  const CompileConfig one =
      CompiledWith(model, R"({"loss": "mse", "metrics": null,
                 "weighted_metrics": {"a": "mae"}})");
  EXPECT_TRUE(one.metrics->is_null());
  EXPECT_EQ(*one.weighted_metrics, Value(Value::List{"mae"}));
  const CompileConfig none =
      CompiledWith(model, R"({"loss": "mse", "weighted_metrics": null})");
  EXPECT_TRUE(none.weighted_metrics->is_null());
  const CompileConfig refused = CompiledWith(
      model, R"({"loss": "mse", "weighted_metrics": [{"module": "keras.metrics",
                 "class_name": "Accuracy", "config": {}}]})");
  EXPECT_TRUE(refused.metrics.ok());
  EXPECT_THAT(
      std::string(refused.weighted_metrics.status().message()),
      HasSubstr("compile_config.weighted_metrics[0]: the class Accuracy"));
}

TEST(CompileConfigTest, TakesWhatEachOfSeveralOutputsWasCompiledWith) {
  std::string model =
      FunctionalConfig(ReluConfig("a", "in") + "," + ReluConfig("b", "a"), "b");
  absl::StrReplaceAll({{R"(["b", 0, 0])", R"([["b", 0, 0], ["a", 0, 0]])"}},
                      &model);
  const auto compiled = [&](const std::string& compile) {
    return CompiledWith(model, compile);
  };
  const Value losses = Value::Map{{"b", "mse"}, {"a", "mae"}};
  EXPECT_EQ(*compiled(R"({"loss": ["mse", "mae"]})").loss, losses);
  EXPECT_EQ(*compiled(R"({"loss": {"a": "mae", "b": "mse"}})").loss, losses);
  EXPECT_EQ(*compiled(R"({"loss": "mse"})").loss,
            (Value::Map{{"b", "mse"}, {"a", "mse"}}));
  const CompileConfig all = compiled(
      R"({"loss": "mse", "loss_weights": [0.5, null],
          "metrics": {"a": "accuracy", "b": ["mae"]}})");
  EXPECT_EQ(*all.loss_weights, (Value::Map{{"b", 0.5}}));
  EXPECT_EQ(*all.metrics, (Value::Map{{"b", Value::List{"mae"}},
                                      {"a", Value::List{"accuracy"}}}));
  const Value of_b = Value::Map{{"b", "mse"}, {"a", nullptr}};
  EXPECT_EQ(*compiled(R"({"loss": {"b": "mse", "a": null}})").loss, of_b);
  EXPECT_EQ(*compiled(R"({"loss": {"b": "mse"}})").loss, of_b);
  EXPECT_EQ(*compiled(R"({"loss": ["mse", null]})").loss, of_b);
  EXPECT_THAT(
      std::string(compiled(R"({"loss": ["mse"]})").loss.status().message()),
      HasSubstr("compile_config.loss: expected a map by output, or a list of "
                "2"));
  EXPECT_TRUE(compiled(R"({"loss": null})").loss->is_null());
  EXPECT_THAT(
      std::string(compiled(R"({"loss": "mse", "metrics": {"c": "mae"}})")
                      .metrics.status()
                      .message()),
      HasSubstr("compile_config.metrics.c: is no output of the model; "
                "expected b, a"));
}

TEST(CompileConfigTest, AFurtherCallOfALayerWasCompiledByTheNameOfTheLayer) {
  std::string twice = ReluConfig("a", "in");
  twice.insert(twice.size() - 2,
               R"(, {"args": [{"class_name": "__keras_tensor__", "config":
               {"keras_history": ["b", 0, 0]}}], "kwargs": {}})");
  std::string model = FunctionalConfig(twice + "," + ReluConfig("b", "a"), "b");
  absl::StrReplaceAll({{R"("output_layers": ["b", 0, 0])",
                        R"("output_layers": [["b", 0, 0], ["a", 1, 0]])"}},
                      &model);
  const CompileConfig compiled = CompiledWith(
      model, R"({"loss": {"a": "mae", "b": "mse"}, "loss_weights": {"a": 0.5},
                 "metrics": {"a": ["mse"]}})");
  ASSERT_TRUE(compiled.loss.ok()) << compiled.loss.status();
  EXPECT_EQ(*compiled.loss, (Value::Map{{"b", "mse"}, {"a", "mae"}}));
  EXPECT_EQ(*compiled.loss_weights, (Value::Map{{"a", 0.5}}));
  EXPECT_EQ(*compiled.metrics, (Value::Map{{"a", Value::List{"mse"}}}));
}

TEST(CompileConfigTest, TakesTheOptimizerInALossScaleOptimizer) {
  const std::string model =
      R"({"class_name": "Sequential", "config": {"layers": [{"class_name":
      "InputLayer", "config": {"batch_shape": [null, 3]}}]}})";
  const auto optimizer = [&](const std::string& config) {
    return CompiledWith(model, R"({"optimizer": {"module": "keras.optimizers",
        "class_name": "LossScaleOptimizer", "config": {)" +
                                   config + "}}}")
        .optimizer;
  };
  const std::string inner = R"("inner_optimizer": {"class_name": "Adam",
      "config": {"learning_rate": 0.5}}, "dynamic_growth_steps": 2000)";
  const auto adam = optimizer(inner + R"(, "initial_scale": 32768.0)");
  ASSERT_TRUE(adam.ok()) << adam.status();
  EXPECT_EQ(*adam->Find("class_name"), Value("Adam"));
  const auto scaled = optimizer(inner + R"(, "initial_scale": 2.0)");
  ASSERT_TRUE(scaled.ok()) << scaled.status();
  EXPECT_EQ(*scaled->Find("class_name"), Value("LossScaleOptimizer"));
  EXPECT_EQ(*scaled->Find("config")->Find("initial_scale"), Value(2.0));
  EXPECT_EQ(
      *scaled->Find("config")->Find("inner_optimizer")->Find("class_name"),
      Value("Adam"));
  for (const char* nothing : {"", R"("inner_optimizer": null)"}) {
    EXPECT_THAT(std::string(optimizer(nothing).status().message()),
                HasSubstr("inner_optimizer: missing"));
  }
}

// "accuracy" is another metric, whose class depends on the shapes.
TEST(CompileConfigTest, RefusesTheClassAccuracy) {
  const std::string accuracy =
      R"({"module": "keras.metrics", "class_name": "Accuracy", "config": {}})";
  for (const std::string& metrics :
       {absl::StrCat("[\"mse\", ", accuracy, "]"), accuracy}) {
    const CompileConfig compiled = CompiledWith(
        R"({"class_name": "Sequential", "config": {"name": "s",
            "build_input_shape": [null, 3], "layers": [
            {"class_name": "ReLU", "config": {"name": "last"}}]}})",
        absl::StrCat(R"({"loss": "mse", "metrics": )", metrics, "}"));
    EXPECT_EQ(compiled.metrics.status().code(),
              absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(compiled.metrics.status().message()),
                HasSubstr("the class Accuracy, which counts outputs that equal "
                          "their labels, is not supported"));
  }
}

TEST(CompileConfigTest, TheOutputOfASequentialIsItsLastLayer) {
  const CompileConfig compiled = CompiledWith(
      R"({"class_name": "Sequential", "config": {"name": "s",
          "build_input_shape": [null, 3], "layers": [
          {"class_name": "ReLU", "config": {"name": "last"}}]}})",
      R"({"loss": "mse", "loss_weights": [0.5]})");
  ASSERT_TRUE(compiled.loss_weights.ok()) << compiled.loss_weights.status();
  EXPECT_EQ(*compiled.loss_weights, (Value::Map{{"last", 0.5}}));
}

// It has an InputLayer, which older files leave out.
TEST(CompileConfigTest, TheOutputOfASequentialWithoutLayersHasNoName) {
  const CompileConfig compiled = CompiledWith(
      R"({"class_name": "Sequential", "config": {"name": "s",
          "build_input_shape": [null, 3], "layers": []}})",
      R"({"loss": "mse", "loss_weights": [0.5]})");
  EXPECT_EQ(*compiled.loss_weights, (Value::Map{{"", 0.5}}));
}

}  // namespace
}  // namespace paceline
