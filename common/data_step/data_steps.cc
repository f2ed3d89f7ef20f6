#include "common/data_step/data_steps.h"

#include <string>

#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/references_of.h"
#include "common/data_step/center_crop_step.h"
#include "common/data_step/normalization_step.h"
#include "common/data_step/preprocess_input_step.h"
#include "common/data_step/random_brightness_step.h"
#include "common/data_step/random_contrast_step.h"
#include "common/data_step/random_crop_step.h"
#include "common/data_step/random_flip_step.h"
#include "common/data_step/random_rotation_step.h"
#include "common/data_step/random_translation_step.h"
#include "common/data_step/random_zoom_step.h"
#include "common/data_step/rescaling_step.h"
#include "common/data_step/resizing_step.h"
#include "common/data_step/to_categorical_step.h"

namespace paceline {
namespace {

using DataStepPtr = std::unique_ptr<DataStep>;

const std::vector<ClassEntry<DataStepPtr>>& DataStepEntries() {
  static const auto& entries = *new std::vector<ClassEntry<DataStepPtr>>{
      ClassEntryOf<DataStepPtr, CenterCropStep>(),
      ClassEntryOf<DataStepPtr, NormalizationStep>(),
      ClassEntryOf<DataStepPtr, PreprocessInputStep>(),
      ClassEntryOf<DataStepPtr, RandomBrightnessStep>(),
      ClassEntryOf<DataStepPtr, RandomContrastStep>(),
      ClassEntryOf<DataStepPtr, RandomCropStep>(),
      ClassEntryOf<DataStepPtr, RandomFlipStep>(),
      ClassEntryOf<DataStepPtr, RandomRotationStep>(),
      ClassEntryOf<DataStepPtr, RandomTranslationStep>(),
      ClassEntryOf<DataStepPtr, RandomZoomStep>(),
      ClassEntryOf<DataStepPtr, RescalingStep>(),
      ClassEntryOf<DataStepPtr, ResizingStep>(),
      ClassEntryOf<DataStepPtr, ToCategoricalStep>(),
  };
  return entries;
}

}  // namespace

absl::StatusOr<DataStepPtr> MakeDataStep(const KerasObject& object,
                                         const Path& path) {
  std::vector<std::string> known;
  for (const ClassEntry<DataStepPtr>& entry : DataStepEntries()) {
    if (entry.class_name == object.class_name) {
      return entry.read(object.config, path);
    }
    known.push_back(entry.class_name);
  }
  return UnknownClass(path, "step", object.class_name, known);
}

std::vector<ClassReference> DataStepReferences() {
  return ReferencesOf(DataStepEntries());
}

absl::Status CheckSteps(const v1::Dataset& dataset, const Path& path) {
  const Path steps = path.Key("steps");
  for (int i = 0; i < dataset.steps_size(); ++i) {
    RETURN_IF_ERROR(
        MakeDataStep(FromProto(dataset.steps(i)), steps.Index(i)).status());
  }
  return absl::OkStatus();
}

}  // namespace paceline
