// Writes trained models as Keras files, which Keras loads with nothing of ours:
// compiled, with the optimizer's state.
#ifndef PACELINE_COMMON_KERAS_MODEL_WRITER_H_
#define PACELINE_COMMON_KERAS_MODEL_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "common/keras/trained_model.h"

namespace paceline {

// Writes a `.keras` archive to `path`, atomically. Values are read as they are
// written, at most 1 MiB at a time, so memory does not grow with the model.
// Unimplemented if the model has parts that Keras' files cannot have; else
// errors are those of `read`, or name the path. Blocks on the disk.
absl::Status WriteKerasModel(const std::string& path,
                             const TrainedModel& model);

// The same as `.weights.h5`: only the variables and the optimizer's state.
absl::Status WriteKerasWeights(const std::string& path,
                               const TrainedModel& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MODEL_WRITER_H_
