#include "common/data_source/model_arrays.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Has no examples, only what is said of them. Of labels it knows the classes.
class DescribedSource : public DataSource {
 public:
  DescribedSource(std::vector<ArraySpec> features,
                  std::vector<ArraySpec> labels, int64_t classes = 10,
                  std::vector<ArraySpec> weights = {})
      : spec_({std::move(features), std::move(labels), std::move(weights)}),
        classes_(classes) {}

  const std::string& name() const override { return name_; }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return 1; }
  absl::Status CheckClassIds(size_t label, const ClassIds& ids) const override {
    if (ids.count >= classes_) return absl::OkStatus();
    return absl::InvalidArgumentError(spec_.labels[label].origin + ": classes");
  }
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    return nullptr;
  }

 private:
  const std::string name_ = "/d.npz: x";
  const ExampleSpec spec_;
  const int64_t classes_;
};

ArraySpec Alone(Shape shape) {
  return {"", "/d.npz: x", ElementType::kUint8, std::move(shape)};
}

ArraySpec Named(const std::string& name, Shape shape) {
  return {name, "/d.npz: " + name, ElementType::kUint8, std::move(shape)};
}

// For examples without steps.
absl::StatusOr<ArrayMatch> MatchArrays(const DataSource& source,
                                       const ModelArrays& model) {
  return paceline::MatchArrays(source.name(), source.spec(), model);
}

absl::Status CheckFits(const DataSource& source, const ModelArrays& model) {
  return paceline::CheckFits(source, source.spec(), model);
}

void ExpectRefused(const DataSource& source, const ModelArrays& model,
                   const std::string& message) {
  EXPECT_EQ(CheckFits(source, model), absl::InvalidArgumentError(message));
}

const ModelArrays kImages = {{{"image", {2, 3}}}, {{"digit", {}, {10}}}};

TEST(MatchArraysTest, TakesAnArrayWithoutANameForTheOnlyInput) {
  const auto match =
      MatchArrays(DescribedSource({Alone({2, 3})}, {Alone({})}), kImages);
  ASSERT_TRUE(match.ok()) << match.status();
  EXPECT_THAT(match->inputs, ElementsAre(0));
  EXPECT_THAT(match->outputs, ElementsAre(0));
}

TEST(MatchArraysTest, TakesClassIdsOfStepsWithATrailingAxis) {
  const ModelArrays tags = {{{"words", {5}}}, {{"tags", {5}, {10}}}};
  for (const Shape& shape : {Shape{5}, Shape{5, 1}}) {
    EXPECT_TRUE(
        MatchArrays(DescribedSource({Alone({5})}, {Alone(shape)}), tags).ok());
  }
  EXPECT_THAT(
      std::string(
          MatchArrays(DescribedSource({Alone({5})}, {Alone({5, 10})}), tags)
              .status()
              .message()),
      HasSubstr("expected class ids, (5,), of the model's output"));
}

TEST(MatchArraysTest, MatchesArraysByName) {
  const DescribedSource source(
      {Named("a", {1}), Named("b", {2}), Named("c", {3})},
      {Named("x", {}), Named("y", {4})});
  const auto match =
      MatchArrays(source, {{{"c", {3}}, {"a", {1}}, {"b", {2}}},
                           {{"y", {4}}, {"x", {}, {.count = 10}}}});
  ASSERT_TRUE(match.ok()) << match.status();
  EXPECT_THAT(match->inputs, ElementsAre(2, 0, 1));
  EXPECT_THAT(match->outputs, ElementsAre(1, 0));
}

// A model with the outputs "x" and "y" that takes weights.
absl::StatusOr<ArrayMatch> MatchWeights(std::vector<ArraySpec> weights,
                                        bool has_sample_weights = true) {
  return MatchArrays(
      DescribedSource({Alone({2})}, {Named("x", {1}), Named("y", {1})},
                      /*classes=*/10, std::move(weights)),
      {{{"image", {2}}}, {{"x", {1}}, {"y", {1}}}, has_sample_weights});
}

TEST(MatchArraysTest, MatchesWeightsWithOutputs) {
  EXPECT_THAT(MatchWeights({Alone({1})})->weights, ElementsAre(0, 0));
  EXPECT_THAT(MatchWeights({Named("y", {})})->weights,
              ElementsAre(std::nullopt, 0));
  EXPECT_THAT(MatchWeights({Named("x", {}), Named("y", {})})->weights,
              ElementsAre(0, 1));
  EXPECT_THAT(MatchWeights({})->weights,
              ElementsAre(std::nullopt, std::nullopt));
  EXPECT_TRUE(MatchWeights({Named("z", {})}, false)->weights.empty());
  EXPECT_EQ(MatchWeights({Named("z", {})}).status(),
            absl::InvalidArgumentError(
                "/d.npz: x: the weights are \"z\", expected those of the "
                "model's outputs: \"x\", \"y\""));
  EXPECT_EQ(MatchWeights({Named("y", {3})}).status(),
            absl::InvalidArgumentError(
                "/d.npz: y: examples have weights of shape (3,), expected (), "
                "of the model's output \"y\""));
}

TEST(MatchArraysTest, IgnoresLabelsOfOutputsThatNeedNone) {
  const ModelArrays model = {
      {{"image", {2}}}, {{"x", {1}}}, true, /*unread_outputs=*/{"y"}};
  const auto match = [&](std::vector<ArraySpec> labels,
                         std::vector<ArraySpec> weights) {
    return MatchArrays(DescribedSource({Alone({2})}, std::move(labels),
                                       /*classes=*/10, std::move(weights)),
                       model);
  };
  const auto both = match({Named("y", {7}), Named("x", {1})},
                          {Named("y", {}), Named("x", {})});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(both->outputs, ElementsAre(1));
  EXPECT_THAT(both->weights, ElementsAre(1));
  EXPECT_THAT(match({Named("x", {1})}, {})->outputs, ElementsAre(0));
  EXPECT_THAT(match({Alone({1})}, {})->outputs, ElementsAre(0));
  EXPECT_EQ(match({Named("y", {1})}, {}).status(),
            absl::InvalidArgumentError(
                "/d.npz: x: the labels are \"y\", expected those of the "
                "model's output: \"x\""));
}

TEST(MatchArraysTest, IgnoresLabelsOfAModelThatOnlyPredicts) {
  const ModelArrays inputs_alone = {kImages.inputs, {}};
  for (const auto& labels : {std::vector<ArraySpec>(),
                             std::vector<ArraySpec>{Named("label", {7})}}) {
    const auto match =
        MatchArrays(DescribedSource({Alone({2, 3})}, labels), inputs_alone);
    ASSERT_TRUE(match.ok()) << match.status();
    EXPECT_THAT(match->inputs, ElementsAre(0));
    EXPECT_THAT(match->outputs, testing::IsEmpty());
  }
}

TEST(MatchArraysTest, RefusesOtherNames) {
  ExpectRefused(
      DescribedSource({Named("left", {2, 3})}, {Alone({})}), kImages,
      "/d.npz: x: the features are \"left\", expected those of the model's "
      "input: \"image\"");
  ExpectRefused(
      DescribedSource({Alone({2, 3})}, {Named("label", {})}), kImages,
      "/d.npz: x: the labels are \"label\", expected those of the model's "
      "output: \"digit\"");
}

TEST(MatchArraysTest, RefusesOtherNumbersOfArrays) {
  ExpectRefused(
      DescribedSource({Named("image", {2, 3}), Named("right", {2, 3})},
                      {Alone({})}),
      kImages,
      "/d.npz: x: the features are \"image\", \"right\", expected those of the "
      "model's input: \"image\"");
  ExpectRefused(
      DescribedSource({Alone({2, 3})}, {Alone({})}),
      {{{"left", {2, 3}}, {"right", {2, 3}}}, {{"digit", {}, {10}}}},
      "/d.npz: x: the features are one without a name, expected those of the "
      "model's inputs: \"left\", \"right\"");
}

TEST(CheckFitsTest, TakesImagesWithoutTheirChannel) {
  const DescribedSource source({Alone({2, 3})}, {Alone({})});
  EXPECT_TRUE(CheckFits(source, kImages).ok());
  EXPECT_TRUE(
      CheckFits(source, {{{"image", {2, 3, 1}}}, kImages.outputs}).ok());
}

TEST(CheckFitsTest, TakesOneValueAsLabel) {
  const DescribedSource source({Alone({2, 3})}, {Alone({})});
  EXPECT_TRUE(CheckFits(source, {kImages.inputs, {{"size", {1}}}}).ok());
}

TEST(CheckFitsTest, RefusesOtherFeatures) {
  const DescribedSource source({Alone({2, 3})}, {Alone({})});
  for (const Shape& input : {Shape{3, 2}, Shape{6}, Shape{2, 3, 3}}) {
    ExpectRefused(
        source, {{{"image", input}}, kImages.outputs},
        "/d.npz: x: examples have features of shape (2, 3), expected " +
            ShapeToString(input) + ", of the model's input \"image\"");
  }
}

TEST(CheckFitsTest, RefusesOtherLabels) {
  const DescribedSource source({Alone({2, 3})}, {Named("digit", {3})});
  ExpectRefused(source, {kImages.inputs, {{"digit", {10}}}},
                "/d.npz: digit: examples have labels of shape (3,), expected "
                "(10,), of the model's output \"digit\"");
  ExpectRefused(source, kImages,
                "/d.npz: digit: examples have labels of shape (3,), expected a "
                "class id, (), of the model's output \"digit\"");
}

TEST(CheckFitsTest, AsksForTheClassesOfEachOutput) {
  const DescribedSource source({Alone({2, 3})},
                               {Named("a", {}), Named("b", {})});
  const auto model = [](int64_t a, int64_t b) {
    return ModelArrays{kImages.inputs, {{"b", {}, {b}}, {"a", {}, {a}}}};
  };
  EXPECT_TRUE(CheckFits(source, model(10, 12)).ok());
  ExpectRefused(source, model(9, 10), "/d.npz: a: classes");
  ExpectRefused(source, model(10, 9), "/d.npz: b: classes");
}

}  // namespace
}  // namespace paceline
