#include "common/model/loss.h"

#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/loss_input.h"
#include "common/model/losses/categorical_crossentropy.h"
#include "common/model/metric.h"
#include "common/model/metric_object.h"
#include "common/model/metrics/mean_loss.h"
#include "common/model/metrics/precision.h"
#include "common/model/metrics/top_k_categorical_accuracy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<const Loss> MakeLossFrom(const std::string& yaml) {
  auto loss = MakeLoss(Object(yaml), Path("loss"));
  EXPECT_TRUE(loss.ok()) << loss.status();
  return *std::move(loss);
}

TEST(LossTest, KnowsKerasNames) {
  for (const char* name : {"mse", "MSE", "mean_squared_error",
                           "MeanSquaredError", "{MeanSquaredError: {}}"}) {
    EXPECT_EQ(MakeLossFrom(name)->class_name(), "MeanSquaredError") << name;
  }
  for (const char* name : {"bce", "BCE", "binary_crossentropy"}) {
    EXPECT_EQ(MakeLossFrom(name)->class_name(), "BinaryCrossentropy") << name;
  }
  EXPECT_EQ(MakeLossFrom("sparse_categorical_crossentropy")->class_name(),
            "SparseCategoricalCrossentropy");
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"mae", "MeanAbsoluteError"},
      {"MAPE", "MeanAbsolutePercentageError"},
      {"msle", "MeanSquaredLogarithmicError"},
      {"kld", "KLDivergence"},
      {"kl_divergence", "KLDivergence"},
      {"log_cosh", "LogCosh"},
      {"squared_hinge", "SquaredHinge"},
      {"binary_focal_crossentropy", "BinaryFocalCrossentropy"},
      {"cosine_similarity", "CosineSimilarity"}};
  for (const auto& [name, class_name] : kNames) {
    EXPECT_EQ(MakeLossFrom(name)->class_name(), class_name) << name;
  }
}

TEST(LossTest, ReadsItsConfig) {
  const auto loss = MakeLossFrom(
      "{CategoricalCrossentropy: {from_logits: true, label_smoothing: 0.1,"
      " name: x, reduction: mean, axis: -1, dtype: float32}}");
  const auto& typed = static_cast<const CategoricalCrossentropy&>(*loss);
  EXPECT_TRUE(typed.from_logits);
  EXPECT_EQ(typed.label_smoothing, 0.1);
}

TEST(LossTest, ErrorsNameTheCulprit) {
  const auto expect = [](const char* yaml, absl::StatusCode code,
                         const char* path, const char* reason) {
    const auto loss = MakeLoss(Object(yaml), Path("loss"));
    EXPECT_EQ(loss.status().code(), code) << loss.status();
    EXPECT_THAT(std::string(loss.status().message()), HasSubstr(path));
    EXPECT_THAT(std::string(loss.status().message()), HasSubstr(reason));
  };
  expect("mean_squared", absl::StatusCode::kInvalidArgument, "loss",
         "\"mean_squared\"");
  expect("{BinaryCrossentropy: {label_smoothing: 2}}",
         absl::StatusCode::kInvalidArgument, "loss.label_smoothing", "must be");
  expect("{BinaryCrossentropy: {from_logit: true}}",
         absl::StatusCode::kInvalidArgument, "loss.from_logit",
         "did you mean \"from_logits\"");
  expect("{MeanSquaredError: {reduction: sum}}",
         absl::StatusCode::kUnimplemented, "loss.reduction", "sum");
  for (const char* name : {"ctc", "{CTC: {}}"}) {
    expect(name, absl::StatusCode::kUnimplemented, "loss",
           "CTC is not supported");
  }
  for (const char* name : {"ce", "crossentropy", "CrossEntropy"}) {
    expect(name, absl::StatusCode::kUnimplemented, "loss",
           "or sparse_categorical_crossentropy");
  }
  expect("{Dice: {axis: top}}", absl::StatusCode::kInvalidArgument, "loss.axis",
         "integer");
}

TEST(LossTest, ChecksTheOutput) {
  const auto sparse = MakeLossFrom("sparse_categorical_crossentropy");
  EXPECT_TRUE(sparse->CheckOutput({3}).ok());
  EXPECT_TRUE(sparse->CheckOutput({2, 3}).ok());
  EXPECT_EQ(sparse->CheckOutput({2, (1 << 24) + 1}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(MakeLossFrom("mse")->CheckOutput({2, 3}).ok());
  const auto code = [](const char* loss, const Shape& output) {
    return MakeLossFrom(loss)->CheckOutput(output).code();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code("{CosineSimilarity: {axis: 2}}", {2, 3}),
            absl::StatusCode::kOk);
  EXPECT_EQ(code("{CosineSimilarity: {axis: 0}}", {2, 3}), kInvalid);
  EXPECT_EQ(code("{Dice: {axis: [0, -1]}}", {2, 3}), absl::StatusCode::kOk);
  EXPECT_EQ(code("{Dice: {axis: [2, -1]}}", {2, 3}), kInvalid);
  EXPECT_EQ(code("{Tversky: {axis: 3}}", {2, 3}), kInvalid);
  // float32 tells no more ids apart.
  const auto check = [](int64_t classes) {
    return MakeLossFrom("sparse_categorical_crossentropy")
        ->CheckOutput({classes});
  };
  EXPECT_TRUE(check(16777216).ok());
  EXPECT_THAT(std::string(check(16777217).message()),
              HasSubstr("at most 16777216 classes, got (16777217,)"));
}

// What Keras 3.15.1 was seen to do.
TEST(LossInputTest, TracesSoftmaxAndSigmoidBack) {
  const auto resolve = [](const std::string& layers, const std::string& loss) {
    const auto graph = GraphOf("[Input: {shape: [4]}, " + layers + "]");
    EXPECT_TRUE(graph.ok()) << graph.status();
    const LossInput input =
        ResolveLossInput(*graph, graph->outputs[0], *MakeLossFrom(loss),
                         /*is_training=*/true);
    return std::pair(input.before_activation, input.from_logits);
  };
  constexpr std::pair kTraced(true, true);
  constexpr std::pair kLogits(false, true);
  constexpr std::pair kOutput(false, false);
  const std::string cce = "categorical_crossentropy";
  const std::string cce_logits =
      "{CategoricalCrossentropy: {from_logits: true}}";
  EXPECT_EQ(resolve("Dense: {units: 3}", cce), kOutput);
  EXPECT_EQ(resolve("Dense: {units: 3}", cce_logits), kLogits);
  EXPECT_EQ(resolve("Dense: {units: 3, activation: softmax}", cce), kTraced);
  EXPECT_EQ(resolve("Dense: {units: 3, activation: softmax}", cce_logits),
            kTraced);
  EXPECT_EQ(resolve("Dense: {units: 3, activation: sigmoid}", cce), kTraced);
  EXPECT_EQ(resolve("Dense: {units: 3}, Softmax: {}", cce), kTraced);
  EXPECT_EQ(
      resolve("Dense: {units: 3}, Activation: {activation: softmax}", cce),
      kTraced);
  EXPECT_EQ(resolve("Dense: {units: 3, activation: softmax}, Flatten: {}", cce),
            kOutput);
  EXPECT_EQ(resolve("Dense: {units: 3, activation: softmax}", "mse"), kOutput);
  EXPECT_EQ(resolve("Dense: {units: 3, activation: softmax}", "bce"), kTraced);
}

// The same: what hands on its input hides nothing.
TEST(LossInputTest, TracesThroughLayersThatHandOnTheirInput) {
  const auto resolve = [](const std::string& layers, bool is_training) {
    const auto graph = GraphOf(
        "[Input: {shape: [4]}, Dense: {units: 3, activation: softmax}, " +
        layers + "]");
    EXPECT_TRUE(graph.ok()) << graph.status();
    const LossInput input = ResolveLossInput(
        *graph, graph->outputs[0], *MakeLossFrom("categorical_crossentropy"),
        is_training);
    return std::tuple(input.node, input.before_activation, input.from_logits);
  };
  const std::string linear = "Activation: {activation: linear}";
  const std::string half = "Dropout: {rate: 0.5}";
  constexpr std::tuple kTraced(1, true, true);
  for (const bool is_training : {false, true}) {
    EXPECT_EQ(resolve(linear, is_training), kTraced);
    EXPECT_EQ(resolve(linear + ", " + linear, is_training), kTraced);
    EXPECT_EQ(resolve("Dropout: {rate: 0}, " + linear, is_training), kTraced);
    EXPECT_EQ(resolve("Flatten: {}", is_training), std::tuple(2, false, false));
    EXPECT_EQ(resolve("ReLU: {}", is_training), std::tuple(2, false, false));
  }
  EXPECT_EQ(resolve(half, false), kTraced);
  EXPECT_EQ(resolve(half, true), std::tuple(2, false, false));
  EXPECT_EQ(resolve(half + ", " + linear, true), std::tuple(3, false, false));
}

// Keras would mix the cross-entropy of a sigmoid with the softmax.
TEST(LossInputTest, RefusesTheLogitsOfASoftmaxForAFocalCrossentropy) {
  const auto check = [](const char* activation, const char* loss) {
    const auto graph =
        GraphOf(absl::StrCat("[Input: {shape: [4]}, Dense: {units: 3, "
                             "activation: ",
                             activation, "}]"));
    EXPECT_TRUE(graph.ok()) << graph.status();
    return CheckLossInput(*graph, graph->outputs[0], *MakeLossFrom(loss));
  };
  EXPECT_TRUE(check("sigmoid", "binary_focal_crossentropy").ok());
  EXPECT_TRUE(check("tanh", "binary_focal_crossentropy").ok());
  EXPECT_TRUE(
      check("softmax", "{BinaryFocalCrossentropy: {from_logits: true}}").ok());
  EXPECT_TRUE(check("softmax", "binary_crossentropy").ok());
  const absl::Status status = check("softmax", "binary_focal_crossentropy");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("BinaryFocalCrossentropy of a softmax"));
}

google::protobuf::RepeatedPtrField<v1::KerasObject> Objects(
    const std::vector<std::string>& yamls) {
  google::protobuf::RepeatedPtrField<v1::KerasObject> objects;
  for (const std::string& yaml : yamls) {
    const auto object = ReadMetricObject(Yaml(yaml), Path());
    EXPECT_TRUE(object.ok()) << object.status();
    *objects.Add() = *ToProto(*object, Path());
  }
  return objects;
}

absl::StatusOr<std::vector<std::unique_ptr<const Metric>>> MetricsOf(
    const google::protobuf::RepeatedPtrField<v1::KerasObject>& objects,
    const Loss& loss, const Shape& output) {
  const google::protobuf::RepeatedPtrField<v1::KerasObject> none;
  return MakeMetrics({objects, Path("metrics")},
                     {none, Path("weighted_metrics")}, &loss, output,
                     /*prefix=*/"");
}

// The names in logs of metrics and weighted metrics, the latter in brackets.
std::vector<std::string> NamesOf(const std::vector<std::string>& yamls,
                                 const std::vector<std::string>& weighted,
                                 const std::string& prefix) {
  const auto objects = Objects(yamls);
  const auto weighted_objects = Objects(weighted);
  const auto metrics = MakeMetrics({objects, Path("metrics")},
                                   {weighted_objects, Path("weighted_metrics")},
                                   MakeLossFrom("mse").get(), {3}, prefix);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  if (!metrics.ok()) return {};
  std::vector<std::string> names;
  for (const auto& metric : *metrics) {
    names.push_back(metric->is_weighted ? absl::StrCat("[", metric->name, "]")
                                        : metric->name);
  }
  return names;
}

std::vector<std::string> ClassesAndNames(const std::vector<std::string>& yamls,
                                         const std::string& loss,
                                         const Shape& output) {
  const auto metrics = MetricsOf(Objects(yamls), *MakeLossFrom(loss), output);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  std::vector<std::string> result;
  if (!metrics.ok()) return result;
  for (const auto& metric : *metrics) {
    result.push_back(std::string(metric->class_name()) + " " + metric->name);
  }
  return result;
}

TEST(MetricTest, AccuracyGoesByTheShapes) {
  const std::string sparse = "sparse_categorical_crossentropy";
  EXPECT_THAT(ClassesAndNames({"accuracy"}, sparse, {10}),
              ElementsAre("SparseCategoricalAccuracy accuracy"));
  EXPECT_THAT(ClassesAndNames({"acc"}, "categorical_crossentropy", {10}),
              ElementsAre("CategoricalAccuracy acc"));
  EXPECT_THAT(ClassesAndNames({"accuracy"}, "bce", {1}),
              ElementsAre("BinaryAccuracy accuracy"));
}

TEST(MetricTest, NamesAreKeras) {
  EXPECT_THAT(
      ClassesAndNames({"mse", "{MeanSquaredError: {}}", "{BinaryAccuracy: {}}",
                       "{TopKCategoricalAccuracy: {k: 3, name: top3}}",
                       "{TopKCategoricalAccuracy: {}}", "categorical_accuracy"},
                      "categorical_crossentropy", {10}),
      ElementsAre("MeanSquaredError mse", "MeanSquaredError mean_squared_error",
                  "BinaryAccuracy binary_accuracy",
                  "TopKCategoricalAccuracy top3",
                  "TopKCategoricalAccuracy top_k_categorical_accuracy",
                  "CategoricalAccuracy categorical_accuracy"));
}

// What Keras 3.15.1 was seen to do.
TEST(MetricTest, NamesKeepTheirCaseAndAreNumbered) {
  EXPECT_THAT(
      ClassesAndNames(
          {"MSE", "mse", "MeanSquaredError", "MSE", "{MeanSquaredError: {}}",
           "mean_squared_error", "{MeanSquaredError: {name: MSE}}", "Accuracy",
           "accuracy", "accuracy"},
          "categorical_crossentropy", {10}),
      ElementsAre("MeanSquaredError MSE", "MeanSquaredError mse",
                  "MeanSquaredError MeanSquaredError", "MeanSquaredError MSE_1",
                  "MeanSquaredError mean_squared_error",
                  "MeanSquaredError mean_squared_error_1",
                  "MeanSquaredError MSE_2", "CategoricalAccuracy Accuracy",
                  "CategoricalAccuracy accuracy",
                  "CategoricalAccuracy accuracy_1"));
}

TEST(MetricTest, AWeightedMetricIsNamedSoIfItsNameIsTaken) {
  EXPECT_THAT(NamesOf({"mse"}, {"mae"}, ""), ElementsAre("mse", "[mae]"));
  EXPECT_THAT(NamesOf({"mse"}, {"mse", "mse", "accuracy", "accuracy"}, ""),
              ElementsAre("mse", "[weighted_mse]", "[weighted_mse_1]",
                          "[accuracy]", "[weighted_accuracy]"));
  EXPECT_THAT(NamesOf({"mse", "mse"}, {"mse"}, "place_"),
              ElementsAre("place_mse", "place_mse_1", "[place_weighted_mse]"));
}

class LargeMetric : public MeanLoss {
 public:
  explicit LargeMetric(int64_t size)
      : MeanLoss(MakeLossFrom("mse")), size_(size) {}

  bool is_mean() const override { return false; }
  int64_t state_size() const override { return size_; }

 private:
  const int64_t size_;
};

TEST(MetricTest, StatesTogetherHaveALimit) {
  const Path path = Path("metrics").Index(1);
  EXPECT_TRUE(CheckStateSize(LargeMetric(65'536), 0, path).ok());
  EXPECT_TRUE(CheckStateSize(LargeMetric(65'534), 2, path).ok());
  const absl::Status status = CheckStateSize(LargeMetric(65'535), 2, path);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "metrics[1]: MeanSquaredError keeps 65535 numbers, and the metrics "
            "before it 2; expected at most 65536 of all metrics together");
}

TEST(MetricTest, ErrorsNameTheMetric) {
  const auto expect = [](const std::vector<std::string>& yamls,
                         const char* path, const char* reason) {
    const auto metrics = MetricsOf(
        Objects(yamls), *MakeLossFrom("sparse_categorical_crossentropy"), {10});
    EXPECT_EQ(metrics.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(metrics.status().message()), HasSubstr(path));
    EXPECT_THAT(std::string(metrics.status().message()), HasSubstr(reason));
  };
  expect({"accuracy", "precission"}, "metrics[1]", "\"precission\"");
  expect({"accuracy", "{SparseCategoricalAccuracy: {name: accuracy_1}}",
          "accuracy"},
         "metrics[2]", "already taken");
  expect({"{SparseCategoricalAccuracy: {name: loss}}"}, "metrics[0]",
         "\"loss\"");
  expect({"categorical_accuracy"}, "metrics[0]", "class ids");
  expect({"mse"}, "metrics[0]", "class ids");
  expect({"{SparseTopKCategoricalAccuracy: {k: 0}}"}, "metrics[0].k",
         "at least 1");
}

TEST(MetricTest, PrecisionTakesOneThresholdAndOneClass) {
  const auto check = [](const std::string& config, const Shape& output) {
    return MetricsOf(Objects({"{Precision: " + config + "}"}),
                     *MakeLossFrom("bce"), output)
        .status();
  };
  EXPECT_TRUE(check("{thresholds: 0.7, class_id: 2}", {3}).ok());
  EXPECT_TRUE(check("{thresholds: null, class_id: null}", {2, 3}).ok());
  const auto expect = [&](const std::string& config, const Shape& output,
                          const char* reason) {
    const absl::Status status = check(config, output);
    EXPECT_FALSE(status.ok()) << config;
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason));
  };
  expect("{thresholds: [0.3, 0.5]}", {3}, "metrics[0].thresholds");
  expect("{thresholds: 1.5}", {3}, "metrics[0].thresholds: must be");
  EXPECT_TRUE(check("{top_k: 3}", {3}).ok());
  expect("{top_k: 4}", {3}, "metrics[0]: top_k is 4");
  expect("{top_k: 101}", {200}, "metrics[0].top_k: must be");
  expect("{class_id: 3}", {3}, "metrics[0]: class_id is 3");
  EXPECT_TRUE(check("{class_id: 2}", {4, 3}).ok());
  expect("{class_id: 3}", {4, 3}, "metrics[0]: class_id is 3");
}

TEST(MetricTest, RefusesWhatIsNoSingleNumber) {
  const auto expect = [](const std::string& metric, const Shape& output,
                         absl::StatusCode code, const char* reason) {
    const absl::Status status =
        MetricsOf(Objects({metric}), *MakeLossFrom("mse"), output).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason));
  };
  constexpr auto kNotYet = absl::StatusCode::kUnimplemented;
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  expect("F1Score", {3}, kNotYet, "metrics[0]: average is null");
  expect("{FBetaScore: {average: mean}}", {3}, kInvalid, "metrics[0].average");
  expect("{F1Score: {average: macro}}", {2, 3}, kInvalid, "got (2, 3)");
  expect("{R2Score: {class_aggregation: null}}", {3}, kNotYet,
         "metrics[0]: class_aggregation is null");
  expect("{AUC: {multi_label: true}}", {3}, kNotYet, "metrics[0].multi_label");
  expect("{AUC: {num_thresholds: 1}}", {3}, kInvalid, "at least 2");
  expect("{IoU: {num_classes: 2, target_class_ids: [2]}}", {3}, kInvalid,
         "metrics[0]: target_class_ids has 2; expected below num_classes, 2");
  expect("{MeanIoU: {num_classes: 2, sparse_y_true: false}}", {3}, kNotYet,
         "metrics[0]: sparse_y_pred is true");
  expect("{MeanIoU: {num_classes: 2, sparse_y_pred: false}}", {3}, kInvalid,
         "class ids");
}

// Of a class for each of three outputs, and of as many thresholds.
TEST(MetricTest, StatesGrowWithClassesAndThresholds) {
  const auto size = [](const std::string& metric) {
    const auto metrics =
        MetricsOf(Objects({metric}), *MakeLossFrom("mse"), {3});
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    return metrics.ok() ? (*metrics)[0]->state_size() : 0;
  };
  EXPECT_EQ(size("Recall"), 4);
  EXPECT_EQ(size("{F1Score: {average: micro}}"), 9);
  EXPECT_EQ(size("R2Score"), 10);
  EXPECT_EQ(size("{MeanIoU: {num_classes: 4}}"), 12);
  EXPECT_EQ(size("{AUC: {num_thresholds: 3}}"), 8);
  EXPECT_EQ(size("{AUC: {thresholds: [0.5]}}"), 8);
}

TEST(MetricTest, PrecisionIsTheShareOfPredictionsThatAreRight) {
  const PrecisionMetric precision;
  EXPECT_EQ(precision.Result({3, 1, 5, 2}), 0.75);
  EXPECT_EQ(precision.Result({0, 0, 5, 2}), 0);
}

}  // namespace
}  // namespace paceline
