// Models of Keras whose layers have a mixed policy.
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/config/json_reader.h"
#include "common/config/json_value.h"
#include "common/keras/model_config.h"
#include "gmock/gmock.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// A model with two layers of these types.
std::string ModelOfTypes(const std::string& first, const std::string& second) {
  return R"({"class_name": "Sequential", "config": {"dtype": )" + first +
         R"(, "layers": [{"class_name": "InputLayer", "config":
         {"batch_shape": [null, 3], "dtype": "float32"}}, {"class_name":
         "Dense", "config": {"units": 2, "dtype": )" +
         second + "}}]}}";
}

TEST(MixedPrecisionTest, AMixedPolicyIsAPrecision) {
  const std::string float16 =
      R"({"module": "keras", "class_name": "DTypePolicy",
      "config": {"name": "mixed_float16"}, "registered_name": null})";
  for (const auto& [json, precision] :
       {std::pair(ModelOfTypes(float16, float16), Value("mixed_float16")),
        std::pair(ModelOfTypes(R"("mixed_bfloat16")", R"("float32")"),
                  Value("mixed_bfloat16")),
        std::pair(ModelOfTypes(R"("float32")", "null"), Value())}) {
    const auto config = ReadModelConfig(*ReadJson(json, "", 1 << 20), Path());
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->precision, precision) << json;
    EXPECT_FALSE(absl::StrContains(ToJson(config->model).dump(), "mixed"));
  }
  EXPECT_THAT(
      std::string(ReadModelConfig(
                      *ReadJson(ModelOfTypes(R"("mixed_bfloat16")", float16),
                                "", 1 << 20),
                      Path())
                      .status()
                      .message()),
      HasSubstr("config.layers[1].config.dtype: mixed_float16 is not supported "
                "beside mixed_bfloat16 of another layer"));
}

TEST(MixedPrecisionTest, AJobTakesThePrecisionUnlessItSaysOtherwise) {
  const std::string path = ::testing::TempDir() + "mixed.json";
  std::ofstream(path) << ModelOfTypes(R"("mixed_float16")",
                                      R"("mixed_float16")");
  const std::string rest = "loss: mse\noptimizer: sgd\n";
  const auto precision = [&](const std::string& more) {
    const auto job = JobOf(path, rest + more);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? job->precision() : v1::PRECISION_UNSPECIFIED;
  };
  EXPECT_EQ(precision(""), v1::PRECISION_MIXED_FLOAT16);
  EXPECT_EQ(precision("device: cuda\n"), v1::PRECISION_MIXED_FLOAT16);
  EXPECT_EQ(precision("precision: float32\n"), v1::PRECISION_FLOAT32);
  // A CPU has none.
  EXPECT_EQ(precision("device: cpu\n"), v1::PRECISION_FLOAT32);
  const std::string inner = absl::StrCat(
      "{layers: [Input: {shape: [3]}, Model: {path: ", path, "}]}");
  EXPECT_THAT(std::string(JobOf(inner, rest).status().message()),
              HasSubstr("model.layers[1].path: the layers of the file "
                        "are mixed_float16; expected the job's `precision`"));
  EXPECT_TRUE(JobOf(inner, rest + "precision: float32\n").ok());
}

}  // namespace
}  // namespace paceline
