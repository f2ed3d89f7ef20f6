#include "common/process/finish_command.h"

#include <iostream>

#include "common/base/exit_code.h"

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
