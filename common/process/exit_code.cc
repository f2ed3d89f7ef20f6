#include "common/process/exit_code.h"

#include <iostream>

namespace paceline {

int FinishCommand(const absl::Status& status) {
  if (status.ok()) return kSuccess;
  std::cerr << "error: " << status.message() << "\n";
  if (absl::IsCancelled(status)) return kStopped;
  return IsBadInput(status) || absl::IsUnimplemented(status) ||
                 absl::IsFailedPrecondition(status)
             ? kBadInput
             : kJobFailed;
}

}  // namespace paceline
