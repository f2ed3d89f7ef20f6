// The preprocessing of the models of keras.applications.
#ifndef PACELINE_COMMON_DATA_STEP_PREPROCESS_INPUT_STEP_H_
#define PACELINE_COMMON_DATA_STEP_PREPROCESS_INPUT_STEP_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "common/config/codec.h"
#include "common/data_step/data_step.h"

namespace paceline {

template <typename T>
class FieldTable;

// The modes of keras.applications.imagenet_utils.preprocess_input, of values in
// [0, 255].
enum class PreprocessMode {
  // The colours from blue to red, without the mean of ImageNet.
  kCaffe,
  // In [-1, 1].
  kTf,
  // In [0, 1], then without ImageNet's mean, in its standard deviations.
  kTorch,
  // As they are: the model scales by itself.
  kNone
};

absl::Span<const EnumName<PreprocessMode>> EnumNames(PreprocessMode);

// A module of keras.applications with a preprocess_input.
struct ApplicationName {
  std::string text;
};

absl::Status ReadConfig(const Value& value, const Path& path,
                        ApplicationName& out);
Value WriteConfig(const ApplicationName& name);
std::string ConfigType(const ApplicationName*);

// By the model or the mode, one of which must be given.
class PreprocessInputStep : public DataStep {
 public:
  static constexpr char kClassName[] = "PreprocessInput";
  static const FieldTable<PreprocessInputStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  std::optional<ApplicationName> model;
  std::optional<PreprocessMode> mode;

 private:
  PreprocessMode chosen_ = PreprocessMode::kNone;
  int64_t size_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_PREPROCESS_INPUT_STEP_H_
