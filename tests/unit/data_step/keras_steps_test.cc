// What Keras makes of images, from tests/interop/keras_steps.py.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "common/config/json_value.h"
#include "common/data_step/random_contrast_step.h"
#include "common/data_step/random_flip_step.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/data_step/step_testing.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

const Json& Cases() {
  static const Json& cases = *new Json([] {
    std::ifstream file(PACELINE_SOURCE_DIR "/tests/interop/keras_steps.json");
    return Json::parse(file);
  }());
  return cases;
}

// What the step makes of the image, if it draws what the case says.
std::vector<float> Applied(const Json& each, DataStep& step, size_t size) {
  const auto image = TestImage(each["shape"].get<Shape>());
  std::vector<float> output(size);
  if (each["drawn"].contains("flips")) {
    dynamic_cast<RandomFlipStep&>(step).Flip(image.data(), output.data());
  } else if (each["drawn"].contains("contrast")) {
    dynamic_cast<RandomContrastStep&>(step).Adjust(
        each["drawn"]["contrast"].get<float>(), image.data(), output.data());
  } else {
    StepRandom random({}, 0);
    EXPECT_TRUE(step.Apply(image.data(), output.data(), random).ok());
  }
  return output;
}

void ExpectNear(const std::vector<float>& actual,
                const std::vector<float>& expected, const std::string& name) {
  ASSERT_EQ(actual.size(), expected.size()) << name;
  float greatest = 0;
  for (const float value : expected) {
    greatest = std::max(greatest, std::abs(value));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 1e-5 * greatest)
        << name << ", element " << i;
  }
}

TEST(KerasSteps, MakeOfImagesWhatKerasMakes) {
  for (const Json& each : Cases()) {
    const auto object = ReadKerasObject(ValueFromJson(each["step"]), Path());
    ASSERT_TRUE(object.ok()) << object.status();
    auto step = MakeDataStep(*object, Path());
    ASSERT_TRUE(step.ok()) << step.status();
    const auto shape = (*step)->Build(each["shape"].get<Shape>());
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(*shape, each["output_shape"].get<Shape>());
    const std::string name = each["step"].dump() + each["shape"].dump();
    ExpectNear(Applied(each, **step, NumElements(*shape)),
               each["output"].get<std::vector<float>>(), name);
  }
}

// A new step needs cases.
TEST(KerasSteps, AllHaveCases) {
  std::set<std::string> names;
  for (const Json& each : Cases()) names.insert(each["step"].begin().key());
  for (const ClassReference& reference : DataStepReferences()) {
    if (reference.name == "to_categorical") continue;
    EXPECT_TRUE(names.contains(reference.name)) << reference.name;
  }
}

}  // namespace
}  // namespace paceline
