// Losses, their weights and metrics of models with several outputs.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/message_fields.h"
#include "common/job/job_fields.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<v1::Job> ReadTwoOutputs(const std::string& rest) {
  return ReadJob(absl::StrCat(R"(strategy: parameter_server
model:
  layers:
    - Input: {shape: [4], name: left}
    - Input: {shape: [3], name: right}
    - {Concatenate: {name: both}, inputs: [left, right]}
    - {Dense: {units: 10, name: digit}, inputs: [both]}
    - {Dense: {units: 1, activation: sigmoid, name: is_odd}, inputs: [both]}
  outputs: [digit, is_odd]
optimizer: sgd
data:
  train:
    npz:
      file: digits.npz
      features: {left: a, right: b}
      labels: {digit: c, is_odd: d}
batch_size_per_replica: 8
)",
                              rest),
                 "/jobs/job.yaml", {}, {.check_files = false});
}

constexpr char kLosses[] =
    "loss:\n"
    "  digit: {SparseCategoricalCrossentropy: {from_logits: true}}\n"
    "  is_odd: bce\n";

std::vector<std::string> NamesOf(const Objective& objective) {
  std::vector<std::string> names;
  for (const auto& metric : objective.metrics) names.push_back(metric->name);
  return names;
}

TEST(ObjectivesTest, EachOutputHasItsLossWeightAndMetrics) {
  const auto job = ReadTwoOutputs(
      absl::StrCat(kLosses,
                   "loss_weights: {is_odd: 0.5}\n"
                   "metrics: {is_odd: [accuracy, accuracy, mae]}\n"));
  ASSERT_TRUE(job.ok()) << job.status();
  const auto model = MakeJobModel(*job);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->objectives.size(), 2);
  const Objective& digit = model->objectives[0];
  EXPECT_EQ(digit.loss->class_name(), "SparseCategoricalCrossentropy");
  EXPECT_EQ(digit.weight, 1);
  EXPECT_THAT(NamesOf(digit), ElementsAre("digit_loss"));
  const Objective& is_odd = model->objectives[1];
  EXPECT_EQ(is_odd.loss->class_name(), "BinaryCrossentropy");
  EXPECT_EQ(is_odd.weight, 0.5);
  EXPECT_THAT(NamesOf(is_odd), ElementsAre("is_odd_loss", "is_odd_accuracy",
                                           "is_odd_accuracy_1", "is_odd_mae"));
}

// As in Keras, the only loss is not reported beside that of the model.
TEST(ObjectivesTest, AnOutputWithoutALossHasOnlyMetrics) {
  for (const char* losses :
       {"loss: {digit: sparse_categorical_crossentropy}\n",
        "loss: {digit: sparse_categorical_crossentropy, is_odd: null}\n"}) {
    const auto job = ReadTwoOutputs(absl::StrCat(
        losses, "metrics: {digit: accuracy, is_odd: [accuracy, mae]}\n"));
    ASSERT_TRUE(job.ok()) << job.status();
    const auto model = MakeJobModel(*job);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_THAT(NamesOf(model->objectives[0]), ElementsAre("digit_accuracy"));
    const Objective& is_odd = model->objectives[1];
    EXPECT_EQ(is_odd.loss, nullptr);
    EXPECT_THAT(NamesOf(is_odd), ElementsAre("is_odd_accuracy", "is_odd_mae"));
    EXPECT_EQ(is_odd.metrics[0]->class_name(), "BinaryAccuracy");
    const auto specs = SpecsOf(model->objectives);
    ASSERT_EQ(specs.size(), 2);
    EXPECT_EQ(specs[1].output, 1);
    EXPECT_FALSE(specs[1].has_sparse_labels());
  }
}

TEST(ObjectivesTest, MetricsSayWhatTheLabelsWithoutALossAre) {
  const auto job = ReadTwoOutputs(
      "loss: {is_odd: bce}\n"
      "metrics: {digit: [sparse_categorical_crossentropy, accuracy]}\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const auto model = MakeJobModel(*job);
  ASSERT_TRUE(model.ok()) << model.status();
  const Objective& digit = model->objectives[0];
  EXPECT_EQ(digit.metrics[1]->class_name(), "SparseCategoricalAccuracy");
  EXPECT_TRUE(SpecsOf(model->objectives)[0].has_sparse_labels());
}

TEST(ObjectivesTest, AnOutputWithoutLossAndMetricsHasNoLabels) {
  const auto job = ReadTwoOutputs("loss: {is_odd: bce}\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const auto model = MakeJobModel(*job);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->objectives[0].has_labels());
  const auto specs = SpecsOf(model->objectives);
  ASSERT_EQ(specs.size(), 1);
  EXPECT_EQ(specs[0].output, 1);
}

TEST(ObjectivesTest, UpdatesLeaveOutWhatNoLossDependsOn) {
  const auto without_loss = [](const std::string& losses) {
    const auto job = ReadTwoOutputs(losses);
    EXPECT_TRUE(job.ok()) << job.status();
    const auto model = MakeJobModel(*job);
    return (*MakeJobOptimizer(*job, model->graph))->without_loss;
  };
  EXPECT_THAT(without_loss("loss: {is_odd: bce}\n"),
              ElementsAre("digit/bias", "digit/kernel"));
  EXPECT_THAT(without_loss("loss: {digit: mse}\n"),
              ElementsAre("is_odd/bias", "is_odd/kernel"));
  EXPECT_THAT(without_loss(kLosses), IsEmpty());
}

TEST(ObjectivesTest, WeightedMetricsFollowTheOthersOfTheirOutput) {
  const auto job = ReadTwoOutputs(absl::StrCat(
      kLosses,
      "metrics: {is_odd: accuracy}\n"
      "weighted_metrics: {digit: accuracy, is_odd: [accuracy]}\n"));
  ASSERT_TRUE(job.ok()) << job.status();
  const auto model = MakeJobModel(*job);
  ASSERT_TRUE(model.ok()) << model.status();
  const Objective& digit = model->objectives[0];
  EXPECT_THAT(NamesOf(digit), ElementsAre("digit_loss", "digit_accuracy"));
  EXPECT_FALSE(digit.metrics[0]->is_weighted);
  EXPECT_TRUE(digit.metrics[1]->is_weighted);
  EXPECT_THAT(NamesOf(model->objectives[1]),
              ElementsAre("is_odd_loss", "is_odd_accuracy",
                          "is_odd_weighted_accuracy"));
}

TEST(ObjectivesTest, OneMetricNeedsNoList) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"accuracy", {"is_odd_loss", "is_odd_accuracy"}},
      {"{Recall: {thresholds: 0.7}}", {"is_odd_loss", "is_odd_recall"}},
      {"{class_name: Recall, config: {name: r}}", {"is_odd_loss", "is_odd_r"}},
      {"[]", {"is_odd_loss"}}};
  for (const auto& [metrics, names] : cases) {
    const auto job = ReadTwoOutputs(
        absl::StrCat(kLosses, "metrics: {is_odd: ", metrics, "}\n"));
    ASSERT_TRUE(job.ok()) << job.status();
    const auto model = MakeJobModel(*job);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(NamesOf(model->objectives[1]), names);
  }
}

TEST(ObjectivesTest, OneMetricOfTheOnlyOutputIsNoMapOfOutputs) {
  const std::pair<const char*, const char*> cases[] = {
      {"accuracy", "accuracy"},
      {"{Recall: {thresholds: 0.7}}", "recall"},
      {"{class_name: MeanSquaredError, config: {name: m}}", "m"},
      {"{MeanSquaredError: {name: m}}", "m"},
      // The output has the name of a metric.
      {"{recall: accuracy}", "accuracy"},
      {"{recall: [accuracy]}", "accuracy"}};
  for (const auto& [metrics, name] : cases) {
    const auto job = ReadJob(
        absl::StrCat(
            "strategy: mirrored\n"
            "model: {layers: [Input: {shape: [4]}, Dense: {units: 1, "
            "activation: sigmoid, name: recall}]}\n"
            "loss: binary_crossentropy\noptimizer: sgd\n"
            "batch_size_per_replica: 8\n"
            "data: {train: {npz: {file: x.npz, features: a, labels: b}}}\n"
            "metrics: ",
            metrics, "\n"),
        "/jobs/job.yaml", {}, {.check_files = false});
    ASSERT_TRUE(job.ok()) << metrics << job.status();
    const auto model = MakeJobModel(*job);
    ASSERT_TRUE(model.ok()) << metrics << model.status();
    EXPECT_THAT(NamesOf(model->objectives[0]), ElementsAre(name)) << metrics;
  }
}

TEST(ObjectivesTest, AJobIsReadAsItIsWritten) {
  const auto job =
      ReadTwoOutputs(absl::StrCat(kLosses,
                                  "loss_weights: {is_odd: 0.5}\n"
                                  "metrics: {digit: [accuracy]}\n"
                                  "weighted_metrics: {is_odd: mse}\n"));
  const auto with_one_loss = ReadTwoOutputs("loss: {digit: mse}\n");
  for (const auto& each : {job, with_one_loss}) {
    ASSERT_TRUE(each.ok()) << each.status();
    v1::Job again;
    const absl::Status status =
        Codec<v1::Job>::Read(WriteJob(*each), Path(), again);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(MessageDifferencer::Equals(*each, again));
  }
}

TEST(ObjectivesTest, ErrorsNameTheFieldAndTheOutput) {
  const std::pair<std::string, const char*> cases[] = {
      {"loss: mse\n",
       "loss: expected a map with the losses of the outputs \"digit\", "
       "\"is_odd\", got one loss"},
      {"loss: {digit: null, is_odd: null}\n",
       "loss: missing; expected a loss of at least one of the outputs "
       "\"digit\", \"is_odd\""},
      {"loss: {is_odd: mse}\nmetrics: {digit: [accuracy]}\n",
       "metrics.digit[0]: of an output without a loss is ambiguous"},
      {"loss: {is_odd: mse}\n"
       "metrics: {digit: [mae, sparse_categorical_accuracy]}\n",
       "metrics.digit[1]: SparseCategoricalAccuracy wants labels that are "
       "class ids, but MeanAbsoluteError has values of the output's shape"},
      {"loss: {digit: mse, is_odd: bce, odd: bce}\n",
       "loss.odd: the model has no such output; expected \"digit\", "
       "\"is_odd\""},
      {"loss: {digit: mse, is_odd: bces}\n", "loss.is_odd: unknown loss"},
      {"loss: {digit: {SparseCategoricalCrossentropy: {ignore_class: 255}}}\n"
       "metrics: {digit: [accuracy, sparse_categorical_crossentropy]}\n",
       "metrics.digit[1]: SparseCategoricalCrossentropy must have "
       "`ignore_class: 255`, too"},
      {"loss: {digit: {SparseCategoricalCrossentropy: {ignore_class: 1.5}}}\n",
       "loss.digit.ignore_class: expected an integer, got 1.5"},
      {absl::StrCat(kLosses, "loss_weights: {is_odd: -1}\n"),
       "loss_weights.is_odd: expected a number of at least 0, got -1"},
      {absl::StrCat(kLosses, "loss_weights: {even: 1}\n"),
       "loss_weights.even: the model has no such output"},
      {absl::StrCat(kLosses, "metrics: [accuracy]\n"),
       "metrics: expected a map with a list for each of the outputs"},
      {absl::StrCat(kLosses, "metrics: {is_odd: [acuracy]}\n"),
       "metrics.is_odd[0]: unknown metric"},
      {absl::StrCat(kLosses, "weighted_metrics: [accuracy]\n"),
       "weighted_metrics: expected a map with a list for each of the outputs"},
      {absl::StrCat(kLosses, "weighted_metrics: {even: mse}\n"),
       "weighted_metrics.even: the model has no such output"},
      {absl::StrCat(kLosses, "weighted_metrics: {is_odd: [mse, acuracy]}\n"),
       "weighted_metrics.is_odd[1]: unknown metric"},
      {absl::StrCat(kLosses, "metrics: {is_odd: 1}\n"),
       "metrics.is_odd: expected Keras object or list of Keras objects, got "
       "1"},
  };
  for (const auto& [rest, error] : cases) {
    const absl::Status status = ReadTwoOutputs(rest).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << rest;
    EXPECT_THAT(std::string(status.message()), HasSubstr(error)) << rest;
  }
}

// Metrics of both outputs would be logged as "a_b_c".
TEST(ObjectivesTest, ErrorsOfAllMetricsNameTheFieldOfOne) {
  for (const std::string field : {"metrics", "weighted_metrics"}) {
    const auto job = ReadJob(absl::StrCat(R"(strategy: mirrored
model:
  layers:
    - Input: {shape: [4], name: in}
    - {Dense: {units: 1, name: a}, inputs: [in]}
    - {Dense: {units: 1, name: a_b}, inputs: [in]}
  outputs: [a, a_b]
loss: {a: mse, a_b: mse}
optimizer: sgd
data:
  train:
    npz: {file: x.npz, features: x, labels: {a: y, a_b: z}}
batch_size_per_replica: 8
)",
                                          field, R"(:
  a: {MeanSquaredError: {name: b_c}}
  a_b: {MeanSquaredError: {name: c}}
)"),
                             "/jobs/job.yaml", {}, {.check_files = false});
    EXPECT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(job.status().message()),
                HasSubstr(absl::StrCat(
                    " ", field,
                    ": two of the outputs have a metric that is called "
                    "\"a_b_c\" in the logs")));
  }
}

absl::StatusOr<v1::Job> ReadCallsOfALayer(const std::string& outputs,
                                          const std::string& rest) {
  return ReadJob(absl::StrCat(R"(strategy: mirrored
model:
  layers:
    - Input: {shape: [4], name: in}
    - {Dense: {units: 4, name: a}, inputs: [in]}
    - {Dense: {units: 1, name: b}, inputs: [a]}
    - {Call: {layer: a, name: again}, inputs: [a]}
  outputs: )",
                              outputs, R"(
optimizer: sgd
data:
  train:
    npz: {file: x.npz, features: x, labels: {a: y, b: z}}
batch_size_per_replica: 8
)",
                              rest),
                 "/jobs/job.yaml", {}, {.check_files = false});
}

TEST(ObjectivesTest, AFurtherCallOfALayerHasTheNameOfTheLayer) {
  const auto job =
      ReadCallsOfALayer("[again, b]",
                        "loss: {a: mse, b: mae}\n"
                        "loss_weights: {a: 0.5}\nmetrics: {a: [mae]}\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const auto model = MakeJobModel(*job);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->objectives.size(), 2);
  EXPECT_EQ(model->objectives[0].weight, 0.5);
  EXPECT_THAT(NamesOf(model->objectives[0]), ElementsAre("a_loss", "a_mae"));
  EXPECT_THAT(NamesOf(model->objectives[1]), ElementsAre("b_loss"));
}

TEST(ObjectivesTest, TwoCallsOfALayerAreNotTwoOutputs) {
  EXPECT_THAT(
      std::string(ReadCallsOfALayer("[again, a, b]", "loss: {a: mse, b: mae}\n")
                      .status()
                      .message()),
      HasSubstr("model.outputs: has two outputs of the layer \"a\"; expected "
                "one"));
}

TEST(ObjectivesTest, AnOutputOfAModelIsALayer) {
  const absl::Status status =
      ReadJob(
          "strategy: mirrored\n"
          "model: {layers: [Input: {shape: [4]}, Dense: {units: 1, name: a}], "
          "outputs: [a, b]}\n"
          "loss: mse\noptimizer: sgd\nbatch_size_per_replica: 8\n"
          "data: {train: {npz: {file: x.npz, features: a, labels: b}}}\n",
          "/jobs/job.yaml", {}, {.check_files = false})
          .status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("model.outputs[1]: \"b\" is no layer of the model"));
}

// A job with a model of one output, of `units`, and `rest`.
absl::StatusOr<JobModel> ModelOf(
    int units, const std::string& rest,
    const std::vector<std::string>& overrides = {}) {
  ASSIGN_OR_RETURN(
      const v1::Job job,
      ReadJob(absl::StrCat(R"(strategy: parameter_server
model: {layers: [Input: {shape: [4]}, Dense: {units: )",
                           units, R"(}]}
optimizer: sgd
data: {train: {npz: {file: digits.npz, features: a, labels: b}}}
batch_size_per_replica: 8
)",
                           rest),
              "/jobs/job.yaml", overrides, {.check_files = false}));
  return MakeJobModel(job);
}

TEST(ClassWeightTest, IsByClass) {
  const auto model = ModelOf(4, "loss: mse\nclass_weight: {0: 0.5, 3: 2}\n");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->objectives[0].class_weights, ElementsAre(0.5, 1, 1, 2));
  const auto bits = ModelOf(1, "loss: bce\nclass_weight: {1: 3}\n");
  ASSERT_TRUE(bits.ok()) << bits.status();
  EXPECT_THAT(bits->objectives[0].class_weights, ElementsAre(1, 3));
  EXPECT_TRUE(ModelOf(4, "loss: mse\n")->objectives[0].class_weights.empty());
}

TEST(ClassWeightTest, RefusesWhatHasNoMeaning) {
  const std::pair<const char*, const char*> cases[] = {
      {"loss: mse\nclass_weight: {4: 1}\n",
       "class_weight.4: is no class of the model's output; expected a whole "
       "number from 0 to 3"},
      {"loss: mse\nclass_weight: {one: 1}\n", "class_weight.one: is no class"},
      {"loss: mse\nclass_weight: {01: 1}\n", "class_weight.01: is no class"},
      {"loss: mse\nclass_weight: {1: 1e40}\n",
       "class_weight.1: expected a number of float32, got 1e+40"},
      {"loss: mse\nclass_weight: {1: -1}\n",
       "class_weight.1: expected a number of at least 0, got -1"},
      {"loss: mse\nclass_weight: [1, 2]\n",
       "class_weight: expected a map of numbers"},
      {"loss: {MeanSquaredError: {reduction: sum}}\nclass_weight: {1: 2}\n",
       "loss.reduction: \"sum\" is not supported yet; expected "
       "sum_over_batch_size, mean or mean_with_sample_weight"},
  };
  for (const auto& [rest, message] : cases) {
    EXPECT_THAT(std::string(ModelOf(4, rest).status().message()),
                HasSubstr(message))
        << rest;
  }
  EXPECT_THAT(std::string(ReadTwoOutputs(
                              absl::StrCat(kLosses, "class_weight: {1: 2}\n"))
                              .status()
                              .message()),
              HasSubstr("class_weight: expected a model with one output"));
}

// Keras takes the place of a step for its class, or fails.
TEST(ClassWeightTest, IsRefusedForAClassOfEachStep) {
  const absl::Status status =
      ModelOf(4,
              "loss: sparse_categorical_crossentropy\nclass_weight: {1: 2}\n",
              {"model={layers: [Input: {shape: [3, 4]}, Dense: {units: 5}]}"})
          .status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("class_weight: the model's output must be a row of "
                        "classes, got (3, 5)"));
}

TEST(SampleWeightTest, IsOfAllOutputsIfAnyDataSetHasIt) {
  EXPECT_FALSE(ModelOf(4, "loss: mse\n")->objectives[0].has_sample_weights);
  for (const char* set : {"train", "validation", "test"}) {
    const auto model = ModelOf(
        4, "loss: mse\n",
        {absl::StrCat("data.", set,
                      ".npz={file: w.npz, features: a, sample_weight: c}")});
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_TRUE(model->objectives[0].has_sample_weights) << set;
  }
}

TEST(SampleWeightTest, RefusesWhatHasNoMeaning) {
  const std::vector<std::string> weights = {"data.train.npz.sample_weight=c"};
  EXPECT_THAT(
      std::string(ModelOf(4, "loss: mse\nclass_weight: {1: 2}\n", weights)
                      .status()
                      .message()),
      HasSubstr("class_weight: excludes sample_weight in data.train"));
  EXPECT_TRUE(ModelOf(4, "loss: mse\nclass_weight: {1: 2}\n",
                      {"data.test.npz={file: w.npz, sample_weight: c}"})
                  .ok());
}

}  // namespace
}  // namespace paceline
