#include "common/session/leader/event_files.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"
#include "common/callback/event_record.h"

namespace paceline {
namespace {

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name = {};
  if (gethostname(name.data(), name.size() - 1) < 0) return "localhost";
  return name.data();
}

}  // namespace

absl::Status EventFiles::WriteScalars(const std::string& folder, int64_t step,
                                      const Logs& scalars) {
  std::string records;
  for (const auto& [tag, value] : scalars) {
    absl::StrAppend(&records, ScalarRecord(WallTime(), step, tag,
                                           static_cast<float>(value)));
  }
  return Append(folder, records);
}

absl::Status EventFiles::WriteHistogram(const std::string& folder, int64_t step,
                                        absl::string_view tag,
                                        const Histogram& histogram) {
  return Append(folder, HistogramRecord(WallTime(), step, tag, histogram));
}

absl::Status EventFiles::WriteImages(const std::string& folder, int64_t step,
                                     absl::string_view tag, ImageSize size,
                                     absl::Span<const std::string> images) {
  return Append(folder, ImageRecord(WallTime(), step, tag, size.height,
                                    size.width, images));
}

absl::Status EventFiles::WriteModel(const std::string& folder,
                                    absl::string_view json) {
  return Append(folder, ModelRecord(WallTime(), json));
}

absl::Status EventFiles::Append(const std::string& folder,
                                absl::string_view records) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const File* const file, FileIn(folder));
  return WriteAll(file->descriptor, file->path, records);
}

double EventFiles::WallTime() const {
  return absl::ToDoubleSeconds(clock_() - absl::UnixEpoch());
}

absl::StatusOr<EventFiles::File> EventFiles::CreateFile(const std::string& name,
                                                        size_t number) {
  for (;; ++number) {
    File file;
    file.path = absl::StrFormat("%s.%d.v2", name, number);
    file.descriptor = FileDescriptor(
        open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.descriptor.is_open()) return file;
    if (errno != EEXIST) return ErrnoError("cannot write", file.path);
  }
}

absl::StatusOr<EventFiles::File*> EventFiles::FileIn(
    const std::string& folder) {
  const auto found = files_.find(folder);
  if (found != files_.end()) return &found->second;
  RETURN_IF_ERROR(MakeDirectories(folder));
  ASSIGN_OR_RETURN(
      File file,
      CreateFile(
          absl::StrFormat("%s/events.out.tfevents.%010d.%s.%d", folder,
                          absl::ToUnixSeconds(clock_()), HostName(), getpid()),
          files_.size()));
  RETURN_IF_ERROR(
      WriteAll(file.descriptor, file.path, VersionRecord(WallTime())));
  return &files_.emplace(folder, std::move(file)).first->second;
}

}  // namespace paceline
