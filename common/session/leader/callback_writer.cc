#include "common/session/leader/callback_writer.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"

namespace paceline {

absl::Status CallbackWriter::Serve(const CallbackOutput& output) {
  return std::visit([this](const auto& each) { return CarryOut(each); },
                    output);
}

int64_t CallbackWriter::SizeOf(const std::string& path) const {
  return FileSize(absl::StrCat(output_dir_, "/", path)).value_or(0);
}

absl::Status CallbackWriter::CarryOut(const ShowMessage& message) {
  if (progress_ != nullptr) *progress_ << message.text << "\n" << std::flush;
  return absl::OkStatus();
}

absl::Status CallbackWriter::CarryOut(const ShowWarning& warning) {
  LOG(WARNING) << warning.text;
  return absl::OkStatus();
}

absl::Status CallbackWriter::CarryOut(const WriteToFile& write) {
  const std::string path = absl::StrCat(output_dir_, "/", write.path);
  RETURN_IF_ERROR(MakeDirectories(path.substr(0, path.rfind('/'))));
  const FileDescriptor file(
      open(path.c_str(),
           O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  struct stat information = {};
  if (file.get() < 0 || fstat(file.get(), &information) < 0) {
    return ErrnoError("cannot write", path);
  }
  if (!S_ISREG(information.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": expected a regular file"));
  }
  // Somebody else may have cut the file.
  const int64_t end = std::min<int64_t>(write.offset, information.st_size);
  if (ftruncate(file.get(), end) < 0) {
    return ErrnoError("cannot write", path);
  }
  return WriteAllAt(file, path, static_cast<uint64_t>(end), write.bytes);
}

}  // namespace paceline
