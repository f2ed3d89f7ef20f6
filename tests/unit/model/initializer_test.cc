#include "common/model/initializer.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "common/config/json_value.h"
#include "common/config/path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/testing.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

using InitializerPtr = std::shared_ptr<const Initializer>;

InitializerPtr MakeFrom(const Value& value) {
  InitializerPtr initializer;
  const absl::Status status =
      ReadConfig(value, Path("initializer"), initializer);
  EXPECT_TRUE(status.ok()) << status;
  return initializer;
}

template <typename T>
std::vector<T> Fill(const Initializer& initializer, RandomKey key,
                    const Shape& shape) {
  std::vector<T> values(static_cast<size_t>(NumElements(shape)));
  initializer.Fill(key, shape, 0, absl::MakeSpan(values));
  return values;
}

constexpr RandomKey kKey = {.seed = 1, .stream = 2};

// Mean, deviation and bounds are those of Keras.
TEST(InitializerTest, AgreesWithKeras) {
  std::ifstream file(PACELINE_SOURCE_DIR "/tests/interop/keras_expected.json");
  const auto cases = nlohmann::ordered_json::parse(file)["initializers"];
  ASSERT_FALSE(cases.empty());
  for (const auto& each : cases) {
    SCOPED_TRACE(each.dump());
    const InitializerPtr initializer =
        MakeFrom(Value(Value::Map{{each["class_name"].get<std::string>(),
                                   ValueFromJson(each["config"])}}));
    const auto values =
        Fill<double>(*initializer, kKey, each["shape"].get<Shape>());
    const auto count = static_cast<double>(values.size());
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    double largest = 0;
    for (const double value : values) {
      squares += (value - mean) * (value - mean);
      largest = std::max(largest, std::abs(value));
    }
    const double stddev = std::sqrt(squares / count);
    EXPECT_NEAR(mean, each["mean"], 0.03 * stddev);
    EXPECT_NEAR(stddev, each["stddev"], 0.02 * stddev);
    // Bounded ones come as near to their bounds; the normal has none.
    const bool is_bounded = each["largest"] < 3.2 * stddev;
    if (is_bounded) {
      EXPECT_NEAR(largest, each["largest"], 0.01 * largest);
    }
  }
}

TEST(InitializerTest, FillsAnyPartAlike) {
  const Shape shape = {7, 11};
  for (const char* name :
       {"glorot_uniform", "he_normal", "RandomUniform", "RandomNormal",
        "TruncatedNormal", "ones", "orthogonal"}) {
    const InitializerPtr initializer = MakeFrom(Value(name));
    const std::vector<float> whole = Fill<float>(*initializer, kKey, shape);
    std::vector<float> part(20);
    initializer->Fill(kKey, shape, 31, absl::MakeSpan(part));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 31))
        << name;
  }
}

TEST(InitializerTest, OrthogonalHasOrthonormalRowsOrColumns) {
  const InitializerPtr initializer = MakeFrom(Yaml("{Orthogonal: {gain: 2}}"));
  for (const Shape& shape : std::vector<Shape>{{5, 9}, {9, 5}, {3, 3, 4}}) {
    SCOPED_TRACE(ShapeToString(shape));
    const std::vector<double> values = Fill<double>(*initializer, kKey, shape);
    const int64_t columns = shape.back();
    const int64_t rows = NumElements(shape) / columns;
    const bool is_wide = rows < columns;
    const auto dot = [&](int64_t a, int64_t b) {
      double sum = 0;
      for (int64_t k = 0; k < std::max(rows, columns); ++k) {
        sum += is_wide ? values[a * columns + k] * values[b * columns + k]
                       : values[k * columns + a] * values[k * columns + b];
      }
      return sum;
    };
    for (int64_t a = 0; a < std::min(rows, columns); ++a) {
      for (int64_t b = 0; b <= a; ++b) {
        EXPECT_NEAR(dot(a, b), a == b ? 4 : 0, 1e-12);
      }
    }
  }
}

// In uniformly random position: an element of a 3 x 3 matrix is uniform in
// [-1, 1], as a coordinate on the sphere is.
TEST(InitializerTest, OrthogonalIsReadByBothOfItsNames) {
  for (const char* name : {"Orthogonal", "OrthogonalInitializer", "orthogonal",
                           "orthogonal_initializer"}) {
    EXPECT_EQ(MakeFrom(Value(name))->class_name(), "Orthogonal") << name;
  }
}

TEST(InitializerTest, OrthogonalFavoursNoDirection) {
  const InitializerPtr initializer = MakeFrom(Value("orthogonal"));
  constexpr int kDraws = 4000;
  for (size_t element = 0; element < 9; ++element) {
    double sum = 0;
    double squares = 0;
    for (uint64_t seed = 0; seed < kDraws; ++seed) {
      const double value = Fill<double>(
          *initializer, {.seed = seed, .stream = 1}, {3, 3})[element];
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / kDraws, 0, 0.04) << element;
    EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.02) << element;
  }
}

TEST(InitializerTest, OrthogonalNeedsTwoAxes) {
  const InitializerPtr initializer = MakeFrom(Value("orthogonal"));
  EXPECT_TRUE(initializer->CheckShape({4, 1}).ok());
  EXPECT_EQ(initializer->CheckShape({4}),
            absl::InvalidArgumentError(
                "an Orthogonal initializer needs a variable with 2 or more "
                "axes; this one has the shape (4,)"));
}

TEST(InitializerTest, Float32IsFloat64Rounded) {
  const InitializerPtr initializer = MakeFrom(Value("lecun_normal"));
  const std::vector<float> narrow = Fill<float>(*initializer, kKey, {50});
  const std::vector<double> wide = Fill<double>(*initializer, kKey, {50});
  for (size_t i = 0; i < wide.size(); ++i) {
    EXPECT_EQ(narrow[i], static_cast<float>(wide[i]));
  }
}

TEST(InitializerTest, DependsOnSeedAndVariable) {
  const InitializerPtr initializer = MakeFrom(Value("glorot_uniform"));
  const auto values = [&](uint64_t seed, const char* variable) {
    return Fill<float>(*initializer, VariableKey(seed, variable), {4, 4});
  };
  EXPECT_EQ(values(1, "dense/kernel"), values(1, "dense/kernel"));
  EXPECT_NE(values(1, "dense/kernel"), values(2, "dense/kernel"));
  EXPECT_NE(values(1, "dense/kernel"), values(1, "dense_1/kernel"));
}

// As in Keras.
TEST(InitializerTest, SeedOfItsOwnCountsInsteadOfTheJobsAndTheVariable) {
  const auto values = [](const std::string& yaml, uint64_t seed,
                         const char* variable) {
    return Fill<float>(*MakeFrom(Yaml(yaml)), VariableKey(seed, variable),
                       {4, 4});
  };
  for (const std::string name :
       {"HeUniform", "VarianceScaling", "RandomUniform", "RandomNormal",
        "TruncatedNormal", "Orthogonal"}) {
    SCOPED_TRACE(name);
    const std::string seeded = "{" + name + ": {seed: 5}}";
    EXPECT_EQ(values(seeded, 1, "dense/kernel"),
              values(seeded, 2, "dense_1/kernel"));
    EXPECT_NE(values(seeded, 1, "dense/kernel"),
              values("{" + name + ": {seed: 6}}", 1, "dense/kernel"));
  }
}

TEST(InitializerTest, Constants) {
  EXPECT_THAT(Fill<float>(*MakeFrom(Value("zeros")), kKey, {3}), Each(0.0f));
  EXPECT_THAT(Fill<float>(*MakeFrom(Value("one")), kKey, {3}), Each(1.0f));
  EXPECT_THAT(
      Fill<double>(*MakeFrom(Yaml("{Constant: {value: 2.5}}")), kKey, {3}),
      Each(2.5));
}

TEST(InitializerTest, WritesWhatItReads) {
  for (const char* yaml :
       {"Zeros", "Ones", "{Constant: {value: 0.5}}", "{HeNormal: {seed: 3}}",
        "{RandomUniform: {minval: -2, maxval: 4.5}}",
        "{RandomNormal: {mean: 1, stddev: 2}}",
        "{TruncatedNormal: {mean: 1, seed: 4}}",
        "{VarianceScaling: {scale: 2, distribution: uniform}}"}) {
    const Value written = WriteConfig(MakeFrom(Yaml(yaml)));
    EXPECT_TRUE(WriteConfig(MakeFrom(written)) == written) << yaml;
    EXPECT_EQ(MakeFrom(written)->class_name(),
              MakeFrom(Yaml(yaml))->class_name());
  }
}

TEST(InitializerTest, ErrorsNameTheCulprit) {
  InitializerPtr initializer;
  const absl::Status unknown =
      ReadConfig(Value("glorot"), Path("kernel_initializer"), initializer);
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("kernel_initializer"));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("\"glorot\""));
  const absl::Status negative = ReadConfig(Yaml("{RandomNormal: {stddev: -1}}"),
                                           Path("init"), initializer);
  EXPECT_EQ(negative.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(negative.message()), HasSubstr("init.stddev"));
}

}  // namespace
}  // namespace paceline
