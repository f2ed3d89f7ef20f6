// Writes trained models as Keras 3's model.save("x.h5") does (legacy_h5.h).
#ifndef PACELINE_COMMON_KERAS_LEGACY_WRITER_H_
#define PACELINE_COMMON_KERAS_LEGACY_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "common/keras/trained_model.h"
#include "common/model/graph.h"
#include "common/optimizer/optimizer.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// InvalidArgument if a legacy file cannot have the model, or Keras would not
// load it, as it would not if it had saved the model itself: a layer has a name
// of the format's own; two trained variables have the same name where that of a
// slot begins with it; the optimizer is Lamb; or a metric is the mean of a loss
// for which Keras has no metric. Else errors are those of SerializeModel.
absl::Status CheckLegacyModel(const v1::Job& job, const Graph& graph,
                              const Optimizer& optimizer);

// Writes a `.h5` to `path`, atomically: the model, compiled, with its variables
// and its optimizer's state. Values are read as they are written, at most 1 MiB
// at a time, so memory does not grow with the model. Errors are those of
// CheckLegacyModel and `read`, or name the path. Blocks on the disk.
absl::Status WriteLegacyModel(const std::string& path,
                              const TrainedModel& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_LEGACY_WRITER_H_
