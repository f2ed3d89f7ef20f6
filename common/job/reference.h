// The reference documentation of job files, generated from the field tables.
#ifndef PACELINE_COMMON_JOB_REFERENCE_H_
#define PACELINE_COMMON_JOB_REFERENCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// The whole reference, in Markdown.
std::string Reference();

// The part about one map of the job ("data") or one class ("Conv2D" or
// "conv2d"). NotFound suggests a similar name.
absl::StatusOr<std::string> ReferenceOf(absl::string_view name);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_REFERENCE_H_
