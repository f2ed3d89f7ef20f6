#include "common/data_source/gzip_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/errno_error.h"
#include "common/base/regular_file.h"
#include "common/base/status_macros.h"
#include "common/data_source/stored_array.h"
#include "common/zip/zip_archive.h"

namespace paceline {

absl::StatusOr<GzipFile> GzipFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(RegularFile opened, OpenRegular(path));
  errno = 0;
  // zlib also reads uncompressed files.
  gzFile file = gzdopen(opened.file.get(), "rb");
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno == 0 ? ENOMEM : errno,
                               absl::StrCat("cannot open ", path));
  }
  opened.file.Release();
  gzbuffer(file, 1 << 17);
  return GzipFile(path, opened.state.st_size, file);
}

void GzipFile::Close::operator()(gzFile_s* file) const { gzclose_r(file); }

bool GzipFile::is_compressed() const { return gzdirect(file_.get()) == 0; }

int64_t GzipFile::capacity_bytes() const {
  return is_compressed() ? size_bytes_ * kMaxDeflateRatio : size_bytes_;
}

absl::StatusOr<int64_t> GzipFile::Read(void* out, int64_t size) {
  int64_t total = 0;
  while (total < size) {
    const auto wanted = static_cast<unsigned>(
        std::min<int64_t>(size - total, int64_t{1} << 30));
    const int count =
        gzread(file_.get(), static_cast<char*>(out) + total, wanted);
    // For a truncated file zlib returns a short read, and the error only on
    // request.
    if (count <= 0) RETURN_IF_ERROR(LastError());
    if (count <= 0) break;
    total += count;
  }
  return total;
}

absl::Status GzipFile::Seek(int64_t offset) {
  if (gzseek(file_.get(), offset, SEEK_SET) == offset) return absl::OkStatus();
  RETURN_IF_ERROR(LastError());
  return absl::InternalError(
      absl::StrCat("cannot read ", path_, " from byte ", offset));
}

absl::Status GzipFile::LastError() const {
  int code = Z_OK;
  const char* message = gzerror(file_.get(), &code);
  if (code == Z_OK || code == Z_STREAM_END) return absl::OkStatus();
  if (code == Z_ERRNO) return ErrnoError("cannot read", path_);
  // zlib has taken the file up to there.
  const int64_t offset = gzoffset(file_.get());
  if (code == Z_BUF_ERROR) {
    return absl::DataLossError(absl::StrCat(
        path_, ": the compressed data is truncated at byte ", offset));
  }
  // zlib names the file as it was opened in front.
  absl::string_view reason = message;
  const size_t colon = reason.rfind(": ");
  if (colon != absl::string_view::npos) reason.remove_prefix(colon + 2);
  return absl::DataLossError(
      absl::StrCat(path_, ": the compressed data is damaged before byte ",
                   offset, ": ", reason));
}

}  // namespace paceline
