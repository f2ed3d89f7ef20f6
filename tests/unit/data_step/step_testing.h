// Common parts of the tests of steps.
#ifndef PACELINE_TESTS_UNIT_DATA_STEP_STEP_TESTING_H_
#define PACELINE_TESTS_UNIT_DATA_STEP_STEP_TESTING_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/data_step/data_steps.h"
#include "glog/logging.h"

namespace paceline {

// "RandomFlip: {mode: vertical}".
inline KerasObject StepObject(const std::string& yaml) {
  const auto value = ReadYaml(yaml, "test", 1 << 16);
  CHECK(value.ok()) << value.status();
  auto object = ReadKerasObject(*value, Path("steps").Index(0));
  CHECK(object.ok()) << object.status();
  return *std::move(object);
}

inline absl::StatusOr<std::unique_ptr<DataStep>> TryMakeStep(
    const std::string& yaml) {
  return MakeDataStep(StepObject(yaml), Path("steps").Index(0));
}

// A step for arrays of shape `input`.
inline std::unique_ptr<DataStep> BuiltStep(const std::string& yaml,
                                           const Shape& input) {
  auto step = TryMakeStep(yaml);
  CHECK(step.ok()) << step.status();
  const auto shape = (*step)->Build(input);
  CHECK(shape.ok()) << shape.status();
  return *std::move(step);
}

// The image of keras_steps.py.
inline std::vector<float> TestImage(const Shape& shape) {
  std::vector<float> image(NumElements(shape));
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<float>(static_cast<double>((i * 2741 + 611) % 9973) /
                                  9973 * 255);
  }
  return image;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DATA_STEP_STEP_TESTING_H_
