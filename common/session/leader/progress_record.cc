#include "common/session/leader/progress_record.h"

#include <fcntl.h>
#include <glog/logging.h>

#include <cstdio>
#include <utility>

#include "absl/status/status.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"
#include "common/progress/progress_message.h"

namespace paceline {
namespace {

// Without the sync of WriteFileAtomically: nobody needs the file after a crash,
// and it is written at each end of an epoch.
absl::Status ReplaceFile(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".tmp";
  const FileDescriptor file(
      open(temporary.c_str(),
           O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.is_open()) return ErrnoError("cannot create", temporary);
  RETURN_IF_ERROR(WriteAll(file, temporary, content));
  if (rename(temporary.c_str(), path.c_str()) < 0) {
    return ErrnoError("cannot replace", path);
  }
  return absl::OkStatus();
}

}  // namespace

ProgressRecord::ProgressRecord(std::string path, v1::ProgressStyle style)
    : path_(std::move(path)) {
  message_.set_style(style);
}

void ProgressRecord::SetCurrent(const EpochProgress& progress) {
  *message_.mutable_current() = ToProto(progress);
  Write();
}

void ProgressRecord::AddEnded(const EpochProgress& progress) {
  message_.clear_current();
  *message_.add_ended() = ToProto(progress);
  Write();
}

void ProgressRecord::Write() {
  auto& ended = *message_.mutable_ended();
  while (ended.size() > kMaxEndedEpochs ||
         (!ended.empty() && message_.ByteSizeLong() > kMaxProgressBytes)) {
    ended.erase(ended.begin());
  }
  const absl::Status status = ReplaceFile(path_, message_.SerializeAsString());
  LOG_IF(WARNING, !status.ok() && !std::exchange(has_failed_, true))
      << "who follows the job sees old progress: " << status.message();
}

}  // namespace paceline
