#include "coordinator/store/disk_reserve.h"

#include <sys/statvfs.h>

#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/size_text.h"

namespace paceline {

absl::Status CheckDiskReserve(const std::string& folder, uint64_t bytes,
                              uint64_t min_free_bytes) {
  if (min_free_bytes == 0) return absl::OkStatus();
  struct statvfs disk = {};
  if (statvfs(folder.c_str(), &disk) != 0) {
    return ErrnoError("cannot tell the free room of", folder);
  }
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  if (free >= min_free_bytes && free - min_free_bytes >= bytes) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(folder, ": its disk has ", SizeText(free),
                   " free, of which ", SizeText(min_free_bytes),
                   " are kept for the coordinator's records (--min-free); ",
                   SizeText(bytes), " are to be written"));
}

}  // namespace paceline
