#include "coordinator/cli/become_worker.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace paceline {

absl::Status BecomeWorker(const std::string& program_folder, char** argv) {
  const std::string worker = program_folder + "/worker";
  execv(worker.c_str(), argv);
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot run ", worker));
}

}  // namespace paceline
