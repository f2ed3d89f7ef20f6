// The files that models among the layers of a job's model name.
#ifndef PACELINE_COMMON_JOB_INNER_MODEL_FILES_H_
#define PACELINE_COMMON_JOB_INNER_MODEL_FILES_H_

#include "common/config/codec.h"
#include "common/config/path.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Visits the `path` of `layer`, if it is a Model (nested_model.h), and those of
// the models in it.
void VisitInnerModelFiles(v1::KerasObject& layer, const Path& path,
                          FileVisitor visit);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_INNER_MODEL_FILES_H_
