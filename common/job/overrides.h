// Changes to a job file from the command line.
#ifndef PACELINE_COMMON_JOB_OVERRIDES_H_
#define PACELINE_COMMON_JOB_OVERRIDES_H_

#include <string>

#include "absl/status/status.h"
#include "common/config/value.h"

namespace paceline {

// Applies "path.to.field=value" to a document. The value is YAML. The path is
// as in error messages, and follows the form of the document: keys separated by
// dots, [3] for list elements, such as `model.layers[1].Conv2D.filters`.
// Creates missing maps. InvalidArgument names the override.
absl::Status ApplyOverride(const std::string& override_text, Value& document);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_OVERRIDES_H_
