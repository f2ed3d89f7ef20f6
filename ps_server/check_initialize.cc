#include "ps_server/check_initialize.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/limits.h"

namespace paceline {
namespace {

absl::Status CheckNumber(absl::string_view field, uint32_t value,
                         uint32_t least, uint32_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", value, "; expected ", least, " to ", most));
}

}  // namespace

absl::Status CheckInitialize(const v1::InitializeRequest& request) {
  absl::Status status =
      CheckNumber("shard_count", request.shard_count(), 1, limits::kMaxTasks);
  if (!status.ok()) return status;
  status.Update(
      CheckNumber("shard", request.shard(), 0, request.shard_count() - 1));
  status.Update(
      CheckNumber("workers", request.workers(), 1, limits::kMaxTasks));
  if (!v1::Consistency_IsValid(request.job().consistency())) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("job.consistency is ", request.job().consistency(),
                     "; expected async, bounded or sync")));
  }
  if (absl::StrContains(request.restore_path(), '\0')) {
    status.Update(absl::InvalidArgumentError(absl::StrCat(
        "restore_path has a NUL after ", request.restore_path().find('\0'),
        " characters; expected a path")));
  }
  return status;
}

}  // namespace paceline
