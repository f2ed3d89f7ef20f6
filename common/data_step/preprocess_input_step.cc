#include "common/data_step/preprocess_input_step.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/image_layout.h"
#include "common/data_step/step_fields.h"

namespace paceline {
namespace {

struct Application {
  const char* name;
  PreprocessMode mode;
};

constexpr Application kApplications[] = {
    {"convnext", PreprocessMode::kNone},
    {"densenet", PreprocessMode::kTorch},
    {"efficientnet", PreprocessMode::kNone},
    {"efficientnet_v2", PreprocessMode::kNone},
    {"inception_resnet_v2", PreprocessMode::kTf},
    {"inception_v3", PreprocessMode::kTf},
    {"mobilenet", PreprocessMode::kTf},
    {"mobilenet_v2", PreprocessMode::kTf},
    {"mobilenet_v3", PreprocessMode::kNone},
    {"nasnet", PreprocessMode::kTf},
    {"resnet", PreprocessMode::kCaffe},
    {"resnet50", PreprocessMode::kCaffe},
    {"resnet_v2", PreprocessMode::kTf},
    {"vgg16", PreprocessMode::kCaffe},
    {"vgg19", PreprocessMode::kCaffe},
    {"xception", PreprocessMode::kTf},
};

std::vector<std::string> ApplicationNames() {
  std::vector<std::string> names;
  for (const Application& each : kApplications) names.emplace_back(each.name);
  return names;
}

PreprocessMode ModeOf(const ApplicationName& name) {
  const auto* found = std::find_if(
      std::begin(kApplications), std::end(kApplications),
      [&name](const Application& each) { return each.name == name.text; });
  return found->mode;
}

// Of ImageNet: in [0, 255], blue first; and in [0, 1], red first.
constexpr float kBlueFirstMean[] = {103.939F, 116.779F, 123.68F};
constexpr float kMean[] = {0.485F, 0.456F, 0.406F};
constexpr float kDeviation[] = {0.229F, 0.224F, 0.225F};

}  // namespace

absl::Span<const EnumName<PreprocessMode>> EnumNames(PreprocessMode) {
  static constexpr EnumName<PreprocessMode> kNames[] = {
      {PreprocessMode::kCaffe, "caffe"},
      {PreprocessMode::kTf, "tf"},
      {PreprocessMode::kTorch, "torch"}};
  return kNames;
}

absl::Status ReadConfig(const Value& value, const Path& path,
                        ApplicationName& out) {
  const std::vector<std::string> names = ApplicationNames();
  size_t index = 0;
  RETURN_IF_ERROR(ReadEnumName(value, path, names, index));
  out.text = names[index];
  return absl::OkStatus();
}

Value WriteConfig(const ApplicationName& name) { return name.text; }

std::string ConfigType(const ApplicationName* /*type*/) {
  std::string type;
  for (const Application& each : kApplications) {
    absl::StrAppend(&type, type.empty() ? "`" : "|`", each.name, "`");
  }
  return type;
}

const FieldTable<PreprocessInputStep>& PreprocessInputStep::Fields() {
  using Self = PreprocessInputStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName,
      "The preprocess_input of the models of keras.applications, for values "
      "from 0 to 255.",
      ImageStepFields<Self>(
          {Optional("model", &Self::model, "Module of keras.applications."),
           Excluding({"model"},
                     Field<Self>(Optional(
                         "mode", &Self::mode,
                         "Mode of imagenet_utils.preprocess_input, in the "
                         "place of the model.")))}),
      [] { return Self(); },
      [](const Self& step, const Path& path) {
        if (step.model || step.mode) return absl::OkStatus();
        return ConfigError(path, "expected `model` or `mode`");
      });
  return table;
}

absl::StatusOr<Shape> PreprocessInputStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(const ImageLayout image, ImageLayoutOf(input));
  chosen_ = mode ? *mode : ModeOf(*model);
  size_ = image.size();
  const bool has_colors =
      chosen_ == PreprocessMode::kCaffe || chosen_ == PreprocessMode::kTorch;
  if (has_colors && image.channels != 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected images of 3 channels, got shape ", ShapeToString(input)));
  }
  return input;
}

absl::Status PreprocessInputStep::Apply(const float* in, float* out,
                                        StepRandom& /*random*/) {
  switch (chosen_) {
    case PreprocessMode::kCaffe:
      for (int64_t i = 0; i < size_; i += 3) {
        for (int64_t c = 0; c < 3; ++c) {
          out[i + c] = in[i + 2 - c] - kBlueFirstMean[c];
        }
      }
      break;
    case PreprocessMode::kTf:
      for (int64_t i = 0; i < size_; ++i) out[i] = in[i] / 127.5F - 1;
      break;
    case PreprocessMode::kTorch:
      for (int64_t i = 0; i < size_; i += 3) {
        for (int64_t c = 0; c < 3; ++c) {
          out[i + c] = (in[i + c] / 255 - kMean[c]) / kDeviation[c];
        }
      }
      break;
    case PreprocessMode::kNone:
      std::copy_n(in, size_, out);
      break;
  }
  return absl::OkStatus();
}

}  // namespace paceline
