// The registry of steps.
//
// A step is one file with its field table, a line in CMakeLists.txt, and a line
// in the table in data_steps.cc.
#ifndef PACELINE_COMMON_DATA_STEP_DATA_STEPS_H_
#define PACELINE_COMMON_DATA_STEP_DATA_STEPS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/data_step/data_step.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The step that a Keras object describes, checked by its field table. Errors
// have their path below `path`.
absl::StatusOr<std::unique_ptr<DataStep>> MakeDataStep(
    const KerasObject& object, const Path& path);

// The references of all steps, by name.
std::vector<ClassReference> DataStepReferences();

// InvalidArgument if a step of the data set at `path` is malformed.
absl::Status CheckSteps(const v1::Dataset& dataset, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_DATA_STEPS_H_
