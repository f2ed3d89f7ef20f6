#include "common/keras/model_writer.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/keras/keras_archive.h"
#include "common/keras/legacy_writer.h"
#include "common/keras/model_config.h"
#include "common/keras/model_weights.h"
#include "common/keras/serialize_model.h"
#include "common/keras/slot_paths.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;

// Element `i` of a variable or slot.
float Element(absl::string_view variable, absl::string_view slot, int64_t i) {
  return static_cast<float>(1000 * variable.size() + 100 * slot.size() + i);
}

// A model in the model, with one layer.
std::string ModelWith(const std::string& name, const std::string& layer) {
  return absl::StrCat(
      "Model: {name: ", name,
      ", layers: [Input: {shape: [3]}, Dense: {units: 3, name: ", layer, "}]}");
}

class ModelWriterTest : public ::testing::Test {
 protected:
  void SetUp() override { Load(""); }
  // The model of the file, with these fields of a job in the place of its own.
  void Load(const std::string& fields,
            const std::string& path = KerasFixture("sequential.keras")) {
    absl::StatusOr<v1::Job> job = JobOf(path, fields);
    ASSERT_TRUE(job.ok()) << job.status();
    job_ = *std::move(job);
    absl::StatusOr<JobModel> model = MakeJobModel(job_);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    auto optimizer = MakeJobOptimizer(job_, model_.graph);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status();
    optimizer_ = *std::move(optimizer);
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    std::filesystem::remove(legacy_path_);
  }

  TrainedModel Trained() {
    return {job_, model_.graph, *optimizer_,
            /*iterations=*/7,
            [](absl::string_view variable, absl::string_view slot,
               int64_t begin, absl::Span<float> out) {
              for (size_t i = 0; i < out.size(); ++i) {
                out[i] =
                    Element(variable, slot, begin + static_cast<int64_t>(i));
              }
              return absl::OkStatus();
            }};
  }

  // Compares every element of the file with what it was written from.
  void ExpectWritten(ModelWeights& weights) {
    const Graph& graph = model_.graph;
    ASSERT_EQ(*weights.ReadIterations(), 7);
    const absl::Status found = weights.FindSlots(graph, *optimizer_);
    ASSERT_TRUE(found.ok()) << found;
    const std::vector<std::string> slots = optimizer_->slot_names();
    for (size_t v = 0; v < graph.variables.size(); ++v) {
      const VariableSpec& variable = graph.variables[v];
      std::vector<float> values(NumElements(variable.shape));
      ASSERT_TRUE(
          weights.Read(static_cast<int>(v), 0, absl::MakeSpan(values)).ok());
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i], Element(variable.name, "", i)) << variable.name;
      }
      if (!variable.is_trained()) continue;
      for (size_t s = 0; s < slots.size(); ++s) {
        ASSERT_TRUE(weights
                        .ReadSlot(static_cast<int>(v), static_cast<int>(s), 0,
                                  absl::MakeSpan(values))
                        .ok());
        ASSERT_EQ(values.back(),
                  Element(variable.name, slots[s], values.size() - 1));
      }
    }
  }

  // Writes the model as a legacy file, and compares what is read of it.
  void ExpectWrittenAsLegacy() {
    const absl::Status written = WriteLegacyModel(legacy_path_, Trained());
    ASSERT_TRUE(written.ok()) << written;
    const auto job = JobOf(legacy_path_);
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->initial_iterations(), 7u);
    const auto optimizer = MakeJobOptimizer(*job, model_.graph);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status();
    EXPECT_EQ((*optimizer)->class_name(), optimizer_->class_name());
    const auto model = MakeJobModel(*job);
    ASSERT_TRUE(model.ok()) << model.status();
    ASSERT_EQ(model->graph.variables.size(), model_.graph.variables.size());
    const auto weights =
        ModelWeights::Open(legacy_path_, model->graph, model->graph.tree);
    ASSERT_TRUE(weights.ok()) << weights.status();
    ExpectWritten(**weights);
  }

  const std::string path_ = ::testing::TempDir() + "model_writer_test.keras";
  const std::string legacy_path_ =
      ::testing::TempDir() + "model_writer_test.h5";
  v1::Job job_;
  JobModel model_;
  std::unique_ptr<const Optimizer> optimizer_;
};

TEST_F(ModelWriterTest, WritesAModelThatCanBeReadBack) {
  const absl::Status written = WriteKerasModel(path_, Trained());
  ASSERT_TRUE(written.ok()) << written;
  const auto job = JobOf(path_);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->model().name(), "small");
  EXPECT_EQ(job->initial_iterations(), 7u);
  EXPECT_EQ(job->optimizer().class_name(), "Adam");
  const auto weights =
      ModelWeights::Open(path_, model_.graph, model_.graph.tree);
  ASSERT_TRUE(weights.ok()) << weights.status();
  ExpectWritten(**weights);
}

TEST_F(ModelWriterTest, TheWeightOfTheOnlyLossIsANumber) {
  const std::string output = model_.graph.output_name(0);
  (*job_.mutable_loss_weights())[output] = 2;
  const auto model = SerializeModel(job_, model_.graph, *optimizer_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->Find("compile_config")->Find("loss_weights"), Value(2.0));
  ASSERT_TRUE(WriteKerasModel(path_, Trained()).ok());
  const auto read = JobOf(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->loss_weights().at(output), 2);
}

TEST_F(ModelWriterTest, WritesModelsInTheModelWithSeveralOutputs) {
  const std::string path = KerasFixture("parts.keras");
  auto job = JobOf(path, "loss: {sum: mse, split: mse}\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  auto model = MakeJobModel(*job);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto written = SerializeModel(*job, model->graph, *optimizer_);
  ASSERT_TRUE(written.ok()) << written.status();
  const auto archive = KerasArchive::Open(path);
  ASSERT_TRUE(archive.ok()) << archive.status();
  const auto of_keras = archive->ReadConfig();
  ASSERT_TRUE(of_keras.ok()) << of_keras.status();
  const Value& ours = *written->Find("config");
  const Value& theirs = *of_keras->Find("config");
  EXPECT_EQ(*ours.Find("output_layers"), *theirs.Find("output_layers"));
  const Value::List& layers = ours.Find("layers")->as_list();
  const Value::List& expected = theirs.Find("layers")->as_list();
  ASSERT_EQ(layers.size(), expected.size());
  for (size_t i = 1; i < layers.size(); ++i) {
    SCOPED_TRACE(i);
    const Value& calls = *layers[i].Find("inbound_nodes");
    const Value& of_layer = *expected[i].Find("inbound_nodes");
    ASSERT_EQ(calls.as_list().size(), of_layer.as_list().size());
    for (size_t k = 0; k < calls.as_list().size(); ++k) {
      EXPECT_EQ(*calls.as_list()[k].Find("args"),
                *of_layer.as_list()[k].Find("args"));
    }
  }
  EXPECT_EQ(*layers[2].Find("config")->Find("output_layers"),
            *expected[2].Find("config")->Find("output_layers"));
}

// As x + y and 2 * x, which carry no masks on, where layers would.
TEST_F(ModelWriterTest, WritesOperators) {
  auto job = JobOf(KerasFixture("keras2_functional.keras"),
                   "loss: mse\noptimizer: sgd\n");
  ASSERT_TRUE(job.ok()) << job.status();
  auto model = MakeJobModel(*job);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto object = SerializeModel(*job, model->graph, *optimizer_);
  ASSERT_TRUE(object.ok()) << object.status();
  std::vector<std::string> operations;
  for (const Value& layer : object->Find("config")->Find("layers")->as_list()) {
    if (*layer.Find("module") != Value("keras.src.ops.numpy")) continue;
    EXPECT_EQ(*layer.Find("config")->Find("name"), *layer.Find("name"));
    EXPECT_EQ(*layer.Find("registered_name"), *layer.Find("class_name"));
    std::string& text = operations.emplace_back();
    text = layer.Find("class_name")->as_string();
    const Value& call = layer.Find("inbound_nodes")->as_list()[0];
    for (const Value& argument : call.Find("args")->as_list()) {
      absl::StrAppend(&text,
                      argument.is_map() ? " tensor" : " " + Excerpt(argument));
    }
  }
  EXPECT_THAT(operations,
              ::testing::ElementsAre("Multiply tensor 2.0", "Add tensor tensor",
                                     "Add tensor -1.0", "Multiply tensor 0.5"));
  const auto again = ReadModelConfig(*object, Path());
  ASSERT_TRUE(again.ok()) << again.status();
  const Value::List& layers = again->model.Find("layers")->as_list();
  // Not the Functional that is called with the keyword `training`.
  EXPECT_EQ(std::count_if(layers.begin(), layers.end(),
                          [](const Value& layer) {
                            return layer.Find("unmasked") != nullptr;
                          }),
            4);
}

// Keras has no metrics of these names, but takes objects.
TEST_F(ModelWriterTest, NamesOfLossesAsMetricsBecomeObjects) {
  const auto job = JobOf(KerasFixture("sequential.keras"),
                         "loss: mse\nmetrics: [mse, huber, kld]\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const auto model = SerializeModel(*job, model_.graph, *optimizer_);
  ASSERT_TRUE(model.ok()) << model.status();
  const Value::List& metrics =
      model->Find("compile_config")->Find("metrics")->as_list();
  ASSERT_EQ(metrics.size(), 3);
  EXPECT_EQ(metrics[0], Value("mse"));
  EXPECT_EQ(*metrics[1].Find("class_name"), Value("Huber"));
  EXPECT_EQ(*metrics[1].Find("config")->Find("name"), Value("huber"));
  EXPECT_EQ(*metrics[2].Find("class_name"), Value("KLDivergence"));
  EXPECT_EQ(*metrics[2].Find("config")->Find("name"), Value("kld"));
}

TEST_F(ModelWriterTest, WeightedMetricsAreApart) {
  const auto job =
      JobOf(KerasFixture("sequential.keras"),
            "loss: mse\nmetrics: [mse]\n"
            "weighted_metrics: [mse, MeanAbsoluteError: {name: error}]\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const auto model = SerializeModel(*job, model_.graph, *optimizer_);
  ASSERT_TRUE(model.ok()) << model.status();
  const Value& compiled = *model->Find("compile_config");
  EXPECT_EQ(*compiled.Find("metrics"), Value(Value::List{"mse"}));
  const Value::List& weighted = compiled.Find("weighted_metrics")->as_list();
  ASSERT_EQ(weighted.size(), 2);
  EXPECT_EQ(weighted[0], Value("mse"));
  EXPECT_EQ(*weighted[1].Find("config")->Find("name"), Value("error"));
}

TEST_F(ModelWriterTest, WritesTheAveragesAndAccumulatorsOfVariables) {
  Load("optimizer: {Adam: {use_ema: true, gradient_accumulation_steps: 4}}\n");
  ASSERT_TRUE(WriteKerasModel(path_, Trained()).ok());
  const auto job = JobOf(path_);
  ASSERT_TRUE(job.ok()) << job.status();
  const auto optimizer = MakeJobOptimizer(*job, model_.graph);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  EXPECT_TRUE((*optimizer)->use_ema);
  EXPECT_EQ((*optimizer)->gradient_accumulation_steps, 4);
  const auto weights =
      ModelWeights::Open(path_, model_.graph, model_.graph.tree);
  ASSERT_TRUE(weights.ok()) << weights.status();
  ExpectWritten(**weights);
}

TEST_F(ModelWriterTest, WritesTheStateOfALossScaleOptimizer) {
  Load(
      "optimizer: {LossScaleOptimizer: {inner_optimizer: adam, initial_scale: "
      "100, dynamic_growth_steps: 3, dynamic_scale: 25, step_counter: 2}}\n");
  ASSERT_TRUE(WriteKerasModel(path_, Trained()).ok());
  const auto job = JobOf(path_);
  ASSERT_TRUE(job.ok()) << job.status();
  const auto optimizer = MakeJobOptimizer(*job, model_.graph);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  const LossScaling& scaling = *(*optimizer)->loss_scaling;
  EXPECT_EQ(scaling.initial_scale, 100);
  EXPECT_EQ(scaling.dynamic_growth_steps, 3);
  EXPECT_EQ(scaling.dynamic_scale, 25);
  EXPECT_EQ(scaling.step_counter, 2);
  const auto weights =
      ModelWeights::Open(path_, model_.graph, model_.graph.tree);
  ASSERT_TRUE(weights.ok()) << weights.status();
  ExpectWritten(**weights);
}

// Those of all variables. The kernel of the Dense, variable 6, is a matrix,
// which has no velocity.
TEST_F(ModelWriterTest, AveragesAndThenAccumulatorsComeBeforeTheOtherSlots) {
  Load("optimizer: {Muon: {use_ema: true, gradient_accumulation_steps: 2}}\n");
  std::vector<std::pair<int, int>> slots;
  for (const SlotPath& each : SlotPaths(model_.graph, *optimizer_, 2)) {
    EXPECT_EQ(each.path, absl::StrCat("optimizer/vars/", 2 + slots.size()));
    slots.emplace_back(each.variable, each.slot);
  }
  EXPECT_THAT(slots,
              ::testing::ElementsAre(
                  Pair(0, 3), Pair(1, 3), Pair(2, 3), Pair(3, 3), Pair(6, 3),
                  Pair(7, 3), Pair(0, 2), Pair(1, 2), Pair(2, 2), Pair(3, 2),
                  Pair(6, 2), Pair(7, 2), Pair(0, 0), Pair(0, 1), Pair(1, 0),
                  Pair(1, 1), Pair(2, 0), Pair(2, 1), Pair(3, 0), Pair(3, 1),
                  Pair(6, 0), Pair(7, 0), Pair(7, 1)));
}

TEST_F(ModelWriterTest, WritesOnlyWeights) {
  const absl::Status written = WriteKerasWeights(path_, Trained());
  ASSERT_TRUE(written.ok()) << written;
  const auto weights =
      ModelWeights::Open(path_, model_.graph, model_.graph.tree);
  ASSERT_TRUE(weights.ok()) << weights.status();
  ExpectWritten(**weights);
}

TEST_F(ModelWriterTest, WritesALegacyFileThatCanBeReadBack) {
  ExpectWrittenAsLegacy();
  Load("optimizer: {Nadam: {use_ema: true, gradient_accumulation_steps: 2}}\n");
  ExpectWrittenAsLegacy();
  Load(
      "optimizer: {SGD: {momentum: 0.9, learning_rate: {ExponentialDecay: "
      "{initial_learning_rate: 0.1, decay_steps: 10, decay_rate: 0.5}}}}\n");
  ExpectWrittenAsLegacy();
}

TEST_F(ModelWriterTest, WritesLegacyFilesOfAllKindsOfModels) {
  for (const char* const name :
       {"nested.keras", "shared.keras", "recurrent.keras", "masked.keras",
        "keras2_functional.keras", "keras2_wrappers.h5"}) {
    SCOPED_TRACE(name);
    Load("loss: mse\noptimizer: adam\n", KerasFixture(name));
    ExpectWrittenAsLegacy();
  }
  Load("loss: {sum: mse, split: mse}\noptimizer: adam\n",
       KerasFixture("parts.keras"));
  ExpectWrittenAsLegacy();
}

TEST_F(ModelWriterTest, ALegacyFileHasTheStateOfALossScaleOptimizer) {
  Load(
      "optimizer: {LossScaleOptimizer: {inner_optimizer: adam, initial_scale: "
      "100, dynamic_growth_steps: 3, dynamic_scale: 25, step_counter: 2}}\n");
  ExpectWrittenAsLegacy();
  const auto job = JobOf(legacy_path_);
  ASSERT_TRUE(job.ok()) << job.status();
  const auto optimizer = MakeJobOptimizer(*job, model_.graph);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  EXPECT_EQ((*optimizer)->loss_scaling->dynamic_scale, 25);
  EXPECT_EQ((*optimizer)->loss_scaling->step_counter, 2);
}

// Keras looks for them in the group of the outer model, by names that it takes
// from the file, and writes no such file itself.
TEST_F(ModelWriterTest, ALegacyFileTellsLayersOfTheSameNameApart) {
  Load("loss: mse\noptimizer: adam\n",
       absl::StrCat("{layers: [Input: {shape: [3]}, Model: {name: outer, "
                    "layers: [Input: {shape: [3]}, ",
                    ModelWith("a", "same"), ", ", ModelWith("b", "same"),
                    "]}]}"));
  ExpectWrittenAsLegacy();
}

TEST_F(ModelWriterTest, ALegacyFileHasAnyNumberOfNames) {
  // Above HDF5_OBJECT_HEADER_LIMIT.
  std::string layers = "[Input: {shape: [3]}";
  for (int i = 0; i < 650; ++i) {
    absl::StrAppend(&layers, ", ReLU: {name: ", std::string(100, 'r'), i, "}");
  }
  Load("loss: mse\noptimizer: sgd\n",
       "{layers: " + layers + ", Dense: {units: 1}]}");
  ExpectWrittenAsLegacy();
  const std::string bytes = *ReadFile(legacy_path_, 1 << 24);
  for (const char* const name : {"layer_names0", "layer_names1"}) {
    EXPECT_NE(bytes.find(absl::StrCat(name, std::string(1, '\0'))),
              std::string::npos);
  }
  EXPECT_EQ(bytes.find("layer_names2"), std::string::npos);
  // In the config, as that of a group, and in an attribute.
  for (int i = 100; i < 650; ++i) {
    const std::string name = absl::StrCat(std::string(100, 'r'), i);
    int count = 0;
    for (size_t at = bytes.find(name); at != std::string::npos;
         at = bytes.find(name, at + 1)) {
      ++count;
    }
    EXPECT_EQ(count, 3) << i;
  }
}

TEST_F(ModelWriterTest, RefusesWhatALegacyFileCannotHave) {
  const auto refusal = [this](const std::string& layers,
                              const std::string& compiled =
                                  "loss: mse\noptimizer: adam\n") {
    Load(compiled, "{layers: " + layers + "}");
    const absl::Status status =
        CheckLegacyModel(job_, model_.graph, *optimizer_);
    EXPECT_EQ(WriteLegacyModel(legacy_path_, Trained()), status);
    EXPECT_FALSE(std::filesystem::exists(legacy_path_));
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("[Input: {shape: [3]}, Dense: {units: 1, name: "
                      "top_level_model_weights}]"),
              HasSubstr("a layer called top_level_model_weights; expected "
                        "another name or a .keras"));
  EXPECT_THAT(refusal("[Input: {shape: [3]}, Dense: {units: 1, name: .}]"),
              HasSubstr("a layer called \".\""));
  EXPECT_THAT(refusal("[Input: {shape: [3]}, Dense: {units: 1, name: " +
                      std::string(70'000, 'x') + "}]"),
              HasSubstr("of 70000 bytes; expected at most 4096"));
  EXPECT_THAT(
      refusal(absl::StrCat("[Input: {shape: [3]}, ", ModelWith("a", "one_same"),
                           ", ", ModelWith("a_one", "same"), "]")),
      HasSubstr("the optimizer's state of a_one/same/kernel and of "
                "another variable"));
  constexpr char kDense[] = "[Input: {shape: [3]}, Dense: {units: 1}]";
  EXPECT_THAT(refusal(kDense, "loss: mse\noptimizer: lamb\n"),
              HasSubstr("the optimizer Lamb"));
  EXPECT_THAT(
      refusal(kDense, "loss: mse\noptimizer: sgd\nmetrics: [mae, huber]\n"),
      HasSubstr("the metric Huber, which Keras has only as a loss; expected "
                "another or a .keras"));
}

TEST_F(ModelWriterTest, AFailureLeavesTheOldFile) {
  ASSERT_TRUE(WriteKerasModel(path_, Trained()).ok());
  const auto size = std::filesystem::file_size(path_);
  TrainedModel model = Trained();
  model.read = [](absl::string_view, absl::string_view, int64_t,
                  absl::Span<float>) {
    return absl::DataLossError("the shard is gone");
  };
  EXPECT_EQ(WriteKerasModel(path_, model),
            absl::DataLossError("the shard is gone"));
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

}  // namespace
}  // namespace paceline
