// Which layers of a model are trained, by their names.
#ifndef PACELINE_COMMON_JOB_TRAINABLE_LAYERS_H_
#define PACELINE_COMMON_JOB_TRAINABLE_LAYERS_H_

#include "absl/status/status.h"
#include "common/config/path.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Sets `trainable` of the layers of `model` as `phase`, at `path` in the job,
// says: first those of its `trainable`, then those of its `frozen`. A name is
// that of a layer, or, for a layer of a model in the model, "base/conv1"; in
// names `*` stands for any characters. The name of a model stands for all its
// layers. Other layers stay as they are: a model around a layer that becomes
// trainable does, too, and its other layers are frozen one by one.
//
// InvalidArgument names a name that fits no layer. `model` must be valid.
absl::Status SetTrainableLayers(const v1::TrainingPhase& phase,
                                const Path& path, v1::Model& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_TRAINABLE_LAYERS_H_
