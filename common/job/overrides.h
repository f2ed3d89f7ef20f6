// Changes to a job file from the command line.
#ifndef PACELINE_COMMON_JOB_OVERRIDES_H_
#define PACELINE_COMMON_JOB_OVERRIDES_H_

#include <string>

#include "absl/status/status.h"
#include "common/config/value.h"

namespace paceline {

// Applies "path.to.field=value" to a document. The value is YAML; the path is
// that of error messages, in the form of the document: keys joined by dots,
// [3] for the elements of lists, such as `model.layers[1].Conv2D.filters`. Maps
// on the way that are not there are made. InvalidArgument names the override.
absl::Status ApplyOverride(const std::string& override_text, Value& document);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_OVERRIDES_H_
