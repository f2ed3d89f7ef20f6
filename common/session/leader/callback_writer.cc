#include "common/session/leader/callback_writer.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <variant>

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

std::string CallbackWriter::PathOf(const std::string& path) const {
  return absl::StrCat(output_dir_, "/", path);
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
  const std::string path = PathOf(write.path);
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

absl::Status CallbackWriter::CarryOut(const WriteScalars& write) {
  return event_files_.WriteScalars(PathOf(write.folder), write.step,
                                   write.scalars);
}

absl::Status CallbackWriter::CarryOut(const WriteModelGraph& write) {
  const absl::StatusOr<std::string> json = model_json_();
  if (!json.ok()) {
    LOG(WARNING) << "TensorBoard gets no graph: " << json.status().message();
    return absl::OkStatus();
  }
  return event_files_.WriteModel(PathOf(write.folder), *json);
}

absl::Status CallbackWriter::CarryOut(const WriteImages& write) {
  return Annotate(
      event_files_.WriteImages(PathOf(write.folder), write.step, write.tag,
                               write.images.size, write.images.images),
      "TensorBoard");
}

absl::Status CallbackWriter::CarryOut(const WriteTrace& write) {
  return Annotate(
      trace_files_.Write(PathOf(write.folder), write.task, *write.trace),
      "TensorBoard");
}

absl::Status CallbackWriter::CarryOut(const RunCommand& run) {
  commands_.Add(run);
  return absl::OkStatus();
}

absl::Status CallbackWriter::CarryOut(const PostLogs& post) {
  posts_.Add(post);
  return absl::OkStatus();
}

}  // namespace paceline
