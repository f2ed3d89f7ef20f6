// The reference of a job file: every key and class, from their field tables.
#ifndef PACELINE_COMMON_JOB_REFERENCE_H_
#define PACELINE_COMMON_JOB_REFERENCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// All of it, in Markdown.
std::string Reference();

// The part on one map of the job ("data") or one class ("Conv2D"; also as Keras
// writes it, "conv2d"). NotFound suggests a name that is near.
absl::StatusOr<std::string> ReferenceOf(absl::string_view name);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_REFERENCE_H_
