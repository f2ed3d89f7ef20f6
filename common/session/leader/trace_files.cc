#include "common/session/leader/trace_files.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/callback/xplane.h"

namespace paceline {

absl::Status TraceFiles::Write(const std::string& folder,
                               const std::string& task, const Trace& trace) {
  std::string& run = runs_[folder];
  if (run.empty()) {
    run = absl::StrCat(
        folder, "/plugins/profile/",
        absl::FormatTime("%Y_%m_%d_%H_%M_%S", clock_(), absl::LocalTimeZone()));
    // Another phase of the job may have made one within the same second.
    std::error_code error;
    while (std::filesystem::exists(run, error)) run += "_";
  }
  RETURN_IF_ERROR(MakeDirectories(run));
  return WriteFileAtomically(absl::StrCat(run, "/", task, ".xplane.pb"),
                             EncodeXSpace(task, trace));
}

}  // namespace paceline
