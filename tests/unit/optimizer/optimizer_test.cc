#include "common/optimizer/optimizer.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/optimizer/optimizers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/optimizer/keras_cases.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<const Optimizer> Make(const std::string& class_name,
                                      const nlohmann::ordered_json& config) {
  auto optimizer = MakeOptimizer(OptimizerObject(class_name, config));
  EXPECT_TRUE(optimizer.ok()) << optimizer.status();
  return *std::move(optimizer);
}

// A variable with its slots.
template <typename T>
class Variable {
 public:
  // One axis.
  Variable(const Optimizer& optimizer, const std::vector<T>& values)
      : Variable(optimizer, values, "variable",
                 {static_cast<int64_t>(values.size())}) {}
  Variable(const Optimizer& optimizer, std::vector<T> values, std::string name,
           std::vector<int64_t> shape)
      : optimizer_(optimizer),
        values_(std::move(values)),
        name_(std::move(name)),
        shape_(std::move(shape)) {
    const int slot_count = static_cast<int>(optimizer.slot_names().size());
    for (int s = 0; s < slot_count; ++s) {
      slots_.emplace_back(values_.size(),
                          static_cast<T>(optimizer.slot_initial_value(s)));
    }
    for (std::vector<T>& slot : slots_) {
      slot_spans_.push_back(absl::MakeSpan(slot));
    }
  }

  void Update(int64_t iterations, std::vector<T> gradients) {
    const UpdateStep step = optimizer_.StepAfter(iterations);
    optimizer_.Accumulate(step, absl::MakeSpan(gradients), slot_spans_);
    optimizer_.Apply(
        step,
        UpdateRange<T>{
            absl::MakeSpan(values_), gradients, slot_spans_, {name_, shape_}});
  }

  const std::vector<T>& values() const { return values_; }
  // By an optimizer with use_ema.
  const std::vector<T>& averages() const { return slots_.back(); }
  // By an optimizer that accumulates.
  const std::vector<T>& accumulators() const {
    return slots_[optimizer_.AccumulatorSlotOf(slots_.size())];
  }

 private:
  const Optimizer& optimizer_;
  std::vector<T> values_;
  const std::string name_;
  const std::vector<int64_t> shape_;
  std::vector<std::vector<T>> slots_;
  std::vector<absl::Span<T>> slot_spans_;
};

// Keras computes in float32, 1 - beta^t included.
template <typename T>
void ExpectNear(const std::vector<T>& actual, const std::vector<double>& wanted,
                const std::string& what) {
  ASSERT_EQ(actual.size(), wanted.size()) << what;
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(actual[i], wanted[i], 1e-6 + 2e-6 * std::abs(wanted[i]))
        << what << " element " << i;
  }
}

template <typename T>
void ExpectLikeKeras(const KerasCase& example) {
  const nlohmann::ordered_json& expected = example.expected;
  Variable<T> variable(*example.optimizer,
                       expected["initial"].get<std::vector<T>>(),
                       example.name(), example.shape());
  for (size_t step = 0; step < expected["gradients"].size(); ++step) {
    variable.Update(static_cast<int64_t>(step),
                    expected["gradients"][step].get<std::vector<T>>());
    const std::string what = absl::StrCat(example.text, " step ", step);
    ExpectNear(variable.values(),
               expected["values"][step].get<std::vector<double>>(), what);
    if (example.optimizer->use_ema) {
      ExpectNear(variable.averages(),
                 expected["averages"][step].get<std::vector<double>>(),
                 what + " average");
    }
    if (example.optimizer->accumulates()) {
      ExpectNear(variable.accumulators(),
                 expected["accumulators"][step].get<std::vector<double>>(),
                 what + " accumulator");
    }
  }
}

template <typename T>
void ExpectClippedLikeKeras(const nlohmann::ordered_json& example) {
  const Clipping clipping = Make("SGD", example["config"])->clipping;
  EXPECT_EQ(clipping.is_active(), !example["config"].empty());
  std::vector<std::vector<T>> gradients = example["gradients"];
  std::vector<double> norms;
  for (const std::vector<T>& each : gradients) {
    norms.push_back(SquaredNorm(absl::MakeConstSpan(each)));
  }
  clipping.ToFactors(absl::MakeSpan(norms));
  for (size_t variable = 0; variable < gradients.size(); ++variable) {
    std::vector<T>& clipped = gradients[variable];
    clipping.Clip(norms[variable], absl::MakeSpan(clipped));
    const std::vector<double> expected = example["clipped"][variable];
    ASSERT_EQ(clipped.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(clipped[i], expected[i], 1e-6) << example["config"];
    }
  }
}

TEST(ClippingTest, ClipsLikeKeras) {
  const nlohmann::ordered_json expected = KerasExpected();
  ASSERT_GE(expected["clipping"].size(), 6u);
  for (const auto& example : expected["clipping"]) {
    ExpectClippedLikeKeras<float>(example);
    ExpectClippedLikeKeras<double>(example);
  }
}

TEST(ClippingTest, BoundsExcludeEachOther) {
  const absl::Status status =
      MakeOptimizer(
          OptimizerObject("Adam", {{"clipnorm", 1}, {"clipvalue", 1}}))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("optimizer.clipvalue: excludes clipnorm"));
  EXPECT_TRUE(MakeOptimizer(OptimizerObject("Adam", {{"clipnorm", nullptr},
                                                     {"clipvalue", 1}}))
                  .ok());
}

TEST(OptimizerTest, EveryFormulaUpdatesLikeKeras) {
  std::set<size_t> formulas;
  for (const KerasCase& example : KerasCases()) {
    ExpectLikeKeras<float>(example);
    ExpectLikeKeras<double>(example);
    const std::string name = example.name();
    const std::vector<int64_t> shape = example.shape();
    formulas.insert(example.optimizer->FormulaFor({name, shape}).index());
  }
  EXPECT_EQ(formulas.size(), std::variant_size_v<Optimizers::Formula>);
}

TEST(OptimizerTest, WithoutWeightDecayNoBitChanges) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {-0.0f, 0.0f, kInfinity, -kInfinity,
                                     kNan,  1.5f, 1e-40f,    -3e38f};
  for (const nlohmann::ordered_json& config :
       {nlohmann::ordered_json::object(),
        nlohmann::ordered_json{{"weight_decay", 0.0}}}) {
    const auto sgd = Make("SGD", config);
    Variable<float> variable(*sgd, values);
    variable.Update(0, std::vector<float>(values.size()));
    EXPECT_EQ(std::memcmp(variable.values().data(), values.data(),
                          values.size() * sizeof(float)),
              0);
  }
}

TEST(OptimizerTest, ExclusionsLookAtAVariablesOwnName) {
  const std::vector<int64_t> shape = {2, 3};
  const auto adamw = Make(
      "AdamW",
      {{"weight_decay", 0.5}, {"exclude_from_weight_decay", {"bias", "beta"}}});
  EXPECT_TRUE(adamw->updates_by_variable());
  EXPECT_EQ(adamw->WeightDecayOf({"dense/kernel", shape}), 0.5);
  EXPECT_EQ(adamw->WeightDecayOf({"beta/kernel", shape}), 0.5);
  EXPECT_EQ(adamw->WeightDecayOf({"dense/bias", shape}), 0);
  EXPECT_EQ(adamw->WeightDecayOf({"block/lstm/recurrent_bias", shape}), 0);
  const auto muon = Make("Muon", {{"weight_decay", 0.5},
                                  {"adam_weight_decay", 0.25},
                                  {"exclude_from_weight_decay", {"bias"}}});
  EXPECT_EQ(muon->WeightDecayOf({"dense/kernel", shape}), 0.5);
  EXPECT_EQ(muon->WeightDecayOf({"embedding/embeddings", shape}), 0.25);
  EXPECT_EQ(muon->WeightDecayOf({"dense/bias", {shape.data(), 1}}), 0);
}

TEST(OptimizerTest, NamesItsSlots) {
  EXPECT_THAT(Make("SGD", {})->slot_names(), IsEmpty());
  EXPECT_THAT(Make("SGD", {{"momentum", 0.9}})->slot_names(),
              ElementsAre("momentum"));
  EXPECT_THAT(Make("Adam", {})->slot_names(),
              ElementsAre("momentum", "velocity"));
  EXPECT_THAT(Make("Adam", {{"amsgrad", true}})->slot_names(),
              ElementsAre("momentum", "velocity", "velocity_hat"));
  EXPECT_THAT(Make("Lamb", {})->slot_names(),
              ElementsAre("momentum", "velocity"));
  EXPECT_THAT(Make("Muon", {})->slot_names(),
              ElementsAre("momentum", "velocity"));
  EXPECT_THAT(Make("Adagrad", {})->slot_names(), ElementsAre("accumulator"));
  EXPECT_THAT(Make("Adadelta", {})->slot_names(),
              ElementsAre("accumulated_grad", "accumulated_delta_var"));
  EXPECT_THAT(Make("Adamax", {})->slot_names(),
              ElementsAre("momentum", "norm"));
  EXPECT_THAT(Make("Nadam", {})->slot_names(),
              ElementsAre("momentum", "velocity"));
  EXPECT_THAT(Make("Lion", {})->slot_names(), ElementsAre("momentum"));
  EXPECT_THAT(Make("Ftrl", {})->slot_names(),
              ElementsAre("accumulator", "linear"));
  EXPECT_THAT(Make("RMSprop", {})->slot_names(), ElementsAre("velocity"));
  EXPECT_THAT(
      Make("RMSprop", {{"momentum", 0.9}, {"centered", true}})->slot_names(),
      ElementsAre("velocity", "momentum", "average_gradient"));
  EXPECT_THAT(Make("SGD", {{"use_ema", true}})->slot_names(),
              ElementsAre("average"));
  EXPECT_THAT(Make("Muon", {{"use_ema", true}})->slot_names(),
              ElementsAre("momentum", "velocity", "average"));
  EXPECT_THAT(Make("SGD", {{"gradient_accumulation_steps", 0}})->slot_names(),
              IsEmpty());
  EXPECT_THAT(Make("SGD", {{"gradient_accumulation_steps", 2}})->slot_names(),
              ElementsAre("gradient_accumulator"));
  const auto adagrad =
      Make("Adagrad", {{"use_ema", true}, {"gradient_accumulation_steps", 2}});
  EXPECT_THAT(adagrad->slot_names(),
              ElementsAre("accumulator", "gradient_accumulator", "average"));
  EXPECT_EQ(adagrad->AccumulatorSlotOf(3), 1u);
}

// As in Keras.
TEST(OptimizerTest, SchedulesCountCallsAndAllElseCountsUpdates) {
  auto optimizer = MakeOptimizer(
      OptimizerObject("SGD", {{"learning_rate",
                               {{"class_name", "InverseTimeDecay"},
                                {"config",
                                 {{"initial_learning_rate", 1},
                                  {"decay_steps", 1},
                                  {"decay_rate", 1}}}}},
                              {"gradient_accumulation_steps", 3}}));
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  (*optimizer)->initial_iterations = 4;
  for (int64_t calls = 4; calls < 10; ++calls) {
    const UpdateStep step = (*optimizer)->StepAfter(calls - 4);
    EXPECT_EQ(step.iterations, calls / 3);
    EXPECT_EQ(step.accumulation.updates, calls == 5 || calls == 8) << calls;
    EXPECT_DOUBLE_EQ(step.learning_rate, 1.0 / (1 + calls));
  }
}

// As in Keras.
TEST(OptimizerTest, AveragesAndConstraintsFollowEachCall) {
  auto optimizer =
      MakeOptimizer(OptimizerObject("SGD", {{"learning_rate", 1},
                                            {"use_ema", true},
                                            {"ema_momentum", 0.5},
                                            {"gradient_accumulation_steps", 2},
                                            {"weight_decay", 0.5}}));
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  (*optimizer)->constraints["variable"].class_name = "NonNeg";
  Variable<float> variable(**optimizer, {-8});
  variable.Update(0, {3});
  EXPECT_THAT(variable.values(), ElementsAre(0));
  EXPECT_THAT(variable.averages(), ElementsAre(-8));
  EXPECT_THAT(variable.accumulators(), ElementsAre(3));
  variable.Update(1, {-11});
  EXPECT_THAT(variable.values(), ElementsAre(4));
  EXPECT_THAT(variable.averages(), ElementsAre(4));
  EXPECT_THAT(variable.accumulators(), ElementsAre(0));
  variable.Update(2, {5});
  EXPECT_THAT(variable.values(), ElementsAre(4));
  EXPECT_THAT(variable.averages(), ElementsAre(4));
  EXPECT_THAT(variable.accumulators(), ElementsAre(5));
}

TEST(OptimizerTest, TheNormOfAMeanIsThatOfWhatAnUpdateTakes) {
  std::vector<float> gradients = {1, -2, 0.5, 3, 7};
  std::vector<float> accumulators = {2, 2, 0.25, -4, 1};
  const double norm =
      SquaredNormOfMean(3, absl::MakeConstSpan(gradients), accumulators);
  AccumulateGradients({.steps = 3}, absl::MakeSpan(gradients),
                      absl::MakeSpan(accumulators));
  EXPECT_DOUBLE_EQ(SquaredNorm(absl::MakeConstSpan(gradients)), norm);
}

TEST(OptimizerTest, AveragesBeginAtZero) {
  const auto adagrad = Make("Adagrad", {{"use_ema", true}});
  EXPECT_EQ(adagrad->slot_initial_value(0), 0.1);
  EXPECT_EQ(adagrad->slot_initial_value(1), 0);
}

// The slots of a model that goes on have its averages.
TEST(OptimizerTest, OnlyTheFirstUpdateOfAModelSetsTheAverages) {
  auto optimizer = MakeOptimizer(OptimizerObject("SGD", {{"use_ema", true}}));
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  EXPECT_EQ((*optimizer)->AveragingOf((*optimizer)->StepAfter(0)).momentum, 0);
  (*optimizer)->initial_iterations = 5;
  EXPECT_EQ((*optimizer)->AveragingOf((*optimizer)->StepAfter(0)).momentum,
            0.99);
}

// As Keras orders them.
TEST(OptimizerTest, AveragesAreOfVariablesBeforeTheirConstraints) {
  auto optimizer = MakeOptimizer(OptimizerObject(
      "SGD", {{"learning_rate", 1}, {"use_ema", true}, {"ema_momentum", 0.5}}));
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  (*optimizer)->constraints["variable"].class_name = "NonNeg";
  Variable<float> variable(**optimizer, {1});
  variable.Update(0, {3});
  EXPECT_THAT(variable.values(), ElementsAre(0));
  EXPECT_THAT(variable.averages(), ElementsAre(-2));
  variable.Update(1, {-4});
  EXPECT_THAT(variable.values(), ElementsAre(4));
  EXPECT_THAT(variable.averages(), ElementsAre(1));
}

// Vector loops end in a remainder: each length must come out as element-wise.
TEST(OptimizerTest, EveryLengthIsUpdatedWhole) {
  for (const KerasCase& example : KerasCases()) {
    const Optimizer& optimizer = *example.optimizer;
    if (optimizer.NeedsWhole({})) continue;
    for (size_t count = 0; count < 40; ++count) {
      std::vector<float> values(count);
      std::vector<float> gradients(count);
      for (size_t i = 0; i < count; ++i) {
        values[i] = std::sin(static_cast<float>(i));
        gradients[i] = std::cos(static_cast<float>(i));
      }
      Variable<float> all(optimizer, values);
      all.Update(0, gradients);
      all.Update(1, gradients);
      for (size_t i = 0; i < count; ++i) {
        Variable<float> one(optimizer, {values[i]});
        one.Update(0, {gradients[i]});
        one.Update(1, {gradients[i]});
        ASSERT_FLOAT_EQ(all.values()[i], one.values()[0])
            << example.text << " " << i << " of " << count;
      }
    }
  }
}

// Zeros behind a variable change no norm and stay, so each length must come out
// as a longer one does.
TEST(OptimizerTest, EveryLengthHasItsNorms) {
  const auto lamb = Make("Lamb", {{"learning_rate", 0.1}});
  for (size_t count = 1; count < 40; ++count) {
    std::vector<float> values(64);
    std::vector<float> gradients(64);
    for (size_t i = 0; i < count; ++i) {
      values[i] = 1 + std::sin(static_cast<float>(i));
      gradients[i] = std::cos(static_cast<float>(i));
    }
    Variable<float> padded(*lamb, values);
    values.resize(count);
    Variable<float> exact(*lamb, values);
    padded.Update(0, gradients);
    gradients.resize(count);
    exact.Update(0, gradients);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_NE(exact.values()[i], values[i]);
      ASSERT_FLOAT_EQ(exact.values()[i], padded.values()[i])
          << i << " of " << count;
    }
  }
}

TEST(OptimizerTest, LearningRateIsThatOfTheConfig) {
  EXPECT_EQ(Make("Adam", {})->StepAfter(0).learning_rate, 0.001);
  EXPECT_EQ(Make("SGD", {})->StepAfter(7).learning_rate, 0.01);
  EXPECT_EQ(Make("SGD", {{"learning_rate", 0.5}})->StepAfter(7).learning_rate,
            0.5);
}

TEST(OptimizerTest, WhoeverUpdatesDecidesTheLearningRate) {
  for (const std::string class_name : {"SGD", "Adam"}) {
    const auto job = Make(class_name, {{"learning_rate", 0.25}});
    const auto other = Make(class_name, {{"learning_rate", 0.5}});
    EXPECT_EQ(other->ScalarsOf({.iterations = 3, .learning_rate = 0.25})[0],
              job->ScalarsOf(job->StepAfter(3))[0]);
  }
}

TEST(OptimizerTest, ClassNamesDoNotMindCase) {
  EXPECT_EQ(Make("adam", {})->class_name(), "Adam");
  EXPECT_EQ(Make("sgd", {})->class_name(), "SGD");
}

TEST(OptimizerTest, ALossScaleOptimizerHasAnotherInIt) {
  const auto optimizer = MakeOptimizer(
      OptimizerObject("LossScaleOptimizer", nlohmann::ordered_json::parse(R"({
          "inner_optimizer": {"class_name": "SGD", "config": {"momentum": 0.5}},
          "initial_scale": 100, "dynamic_growth_steps": 3,
          "dynamic_scale": 25, "step_counter": 2})")));
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  EXPECT_EQ((*optimizer)->class_name(), "SGD");
  const LossScaling& scaling = *(*optimizer)->loss_scaling;
  EXPECT_EQ(scaling.first_scale(), 25);
  EXPECT_EQ(scaling.step_counter, 2);
  const Value written = Serialize(**optimizer);
  EXPECT_EQ(*written.Find("class_name"), Value("LossScaleOptimizer"));
  // Exactly Keras' keys.
  const Value& config = *written.Find("config");
  ASSERT_EQ(config.as_map().size(), 4u);
  EXPECT_EQ(*config.Find("name"), Value("loss_scale_optimizer"));
  EXPECT_EQ(*config.Find("initial_scale"), Value(100.0));
  EXPECT_EQ(*config.Find("dynamic_growth_steps"), Value(3));
  const Value& inner = *config.Find("inner_optimizer");
  EXPECT_EQ(*inner.Find("class_name"), Value("SGD"));
  EXPECT_EQ(*inner.Find("config")->Find("momentum"), Value(0.5));
}

TEST(OptimizerTest, ErrorsOfALossScaleOptimizerNameTheKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "optimizer.inner_optimizer: missing"},
      {R"({"inner_optimizer": "sgdd"})", "optimizer.inner_optimizer"},
      {R"({"inner_optimizer": {"class_name": "LossScaleOptimizer",
           "config": {"inner_optimizer": "sgd"}}})",
       "optimizer.inner_optimizer"},
      {R"({"inner_optimizer": "sgd", "initial_scale": 0})",
       "optimizer.initial_scale"},
      {R"({"inner_optimizer": "sgd", "dynamic_growth_steps": 0})",
       "optimizer.dynamic_growth_steps"}};
  for (const auto& [config, message] : cases) {
    const absl::Status status =
        MakeOptimizer(OptimizerObject("LossScaleOptimizer",
                                      nlohmann::ordered_json::parse(config)))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(OptimizerTest, TakesWhatKerasWrites) {
  const auto optimizer = Make("Adam", {{"name", "adam"},
                                       {"learning_rate", 0.0010000000474974513},
                                       {"weight_decay", nullptr},
                                       {"clipnorm", nullptr},
                                       {"global_clipnorm", nullptr},
                                       {"clipvalue", nullptr},
                                       {"use_ema", false},
                                       {"ema_momentum", 0.99},
                                       {"ema_overwrite_frequency", nullptr},
                                       {"loss_scale_factor", nullptr},
                                       {"gradient_accumulation_steps", nullptr},
                                       {"beta_1", 0.9},
                                       {"beta_2", 0.999},
                                       {"epsilon", 1e-07},
                                       {"amsgrad", false}});
  EXPECT_EQ(optimizer->class_name(), "Adam");
}

struct BadCase {
  std::string class_name;
  nlohmann::ordered_json config;
  absl::StatusCode code;
  std::string culprit;
  std::string reason;
};

TEST(OptimizerTest, RefusesWhatItCannotDo) {
  using Code = absl::StatusCode;
  const std::vector<BadCase> cases = {
      {"Adamm", {}, Code::kInvalidArgument, "Adamm", "did you mean \"Adam\""},
      {"Adafactor", {}, Code::kUnimplemented, "Adafactor", "not supported yet"},
      {"Adam",
       {{"learning_rate", -1}},
       Code::kInvalidArgument,
       "optimizer.learning_rate",
       "at least 0"},
      {"Adam",
       {{"learning_rate", "fast"}},
       Code::kInvalidArgument,
       "optimizer.learning_rate",
       "number"},
      {"Adam",
       {{"beta_1", 1.0}},
       Code::kInvalidArgument,
       "optimizer.beta_1",
       "1"},
      {"Adam",
       {{"weight_decay", -0.004}},
       Code::kInvalidArgument,
       "optimizer.weight_decay",
       "at least 0"},
      {"SGD",
       {{"exclude_from_weight_decay", {"bias$"}}},
       Code::kUnimplemented,
       "optimizer.exclude_from_weight_decay[0]",
       "patterns are not supported yet"},
      {"AdamW",
       {{"weight_decay", nullptr}},
       Code::kInvalidArgument,
       "optimizer.weight_decay",
       "expected a number, got null"},
      {"SGD",
       {{"clipnorm", 0.0}},
       Code::kInvalidArgument,
       "optimizer.clipnorm",
       "must be above 0"},
      {"SGD",
       {{"gradient_accumulation_steps", 1}},
       Code::kInvalidArgument,
       "optimizer.gradient_accumulation_steps",
       "must be 0, or from 2 to 9007199254740992, got 1"},
      {"SGD",
       {{"gradient_accumulation_steps", -2}},
       Code::kInvalidArgument,
       "optimizer.gradient_accumulation_steps",
       "must be 0, or from 2"},
      {"Adam",
       {{"gradient_accumulation_steps", 1e18}},
       Code::kInvalidArgument,
       "optimizer.gradient_accumulation_steps",
       "1e+18"},
      {"SGD",
       {{"gradient_accumulation_steps", 2.5}},
       Code::kInvalidArgument,
       "optimizer.gradient_accumulation_steps",
       "integer"},
      {"SGD",
       {{"use_ema", true}, {"ema_momentum", 1.5}},
       Code::kInvalidArgument,
       "optimizer.ema_momentum",
       "from 0 to 1"},
      {"SGD",
       {{"use_ema", true}, {"ema_overwrite_frequency", -1}},
       Code::kInvalidArgument,
       "optimizer.ema_overwrite_frequency",
       "at least 0"},
      {"SGD",
       {{"momentun", 0.9}},
       Code::kInvalidArgument,
       "optimizer",
       "momentum"},
      {"SGD",
       {{"momentum", 1.5}},
       Code::kInvalidArgument,
       "optimizer.momentum",
       "1"},
      {"Muon",
       {{"exclude_layers", {"head", "block.*"}}},
       Code::kUnimplemented,
       "optimizer.exclude_layers[1]",
       "patterns are not supported yet"},
      {"Muon",
       {{"ns_steps", 101}},
       Code::kInvalidArgument,
       "optimizer.ns_steps",
       "100"},
  };
  for (const BadCase& each : cases) {
    SCOPED_TRACE(each.class_name + each.config.dump());
    const absl::Status status =
        MakeOptimizer(OptimizerObject(each.class_name, each.config)).status();
    EXPECT_EQ(status.code(), each.code) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(each.culprit), HasSubstr(each.reason)));
  }
}

}  // namespace
}  // namespace paceline
