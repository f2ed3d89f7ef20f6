#include "common/checkpoint/trained_job.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace paceline {

absl::StatusOr<v1::Job> TrainedJobOf(const std::string& folder,
                                     const Manifest& manifest) {
  if (manifest.trained.has_model()) return manifest.trained;
  return absl::FailedPreconditionError(absl::StrCat(
      "checkpoint ", folder,
      " was written by an earlier release, which did not store the model; "
      "expected one of a job that this release has run or resumed"));
}

}  // namespace paceline
