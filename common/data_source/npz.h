// NumPy archives: a zip archive with one .npy file (npy.h) per array. Supported
// are stored and deflated entries.
//
// Errors name the file, the array, the value and what is expected. NotFound,
// PermissionDenied: the file cannot be opened; NotFound also if it has no such
// array. InvalidArgument: it is no regular file or no archive, has several
// arrays of that name (NumPy would read the last), the array is not supported,
// is larger than limits.h or the machine's memory allows, or there are bytes
// after its values. DataLoss: the array is truncated or damaged.
// ResourceExhausted: no memory is left. FailedPrecondition: the file has been
// written to since it was opened.
#ifndef PACELINE_COMMON_DATA_SOURCE_NPZ_H_
#define PACELINE_COMMON_DATA_SOURCE_NPZ_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/data_source/array_values.h"
#include "common/data_source/element.h"
#include "common/data_source/npy.h"
#include "common/data_source/stored_rows.h"
#include "common/zip/zip_archive.h"

namespace paceline {

// An open archive. Not thread-safe.
class NpzArchive {
 public:
  static absl::StatusOr<NpzArchive> Open(const std::string& path);

  // The array's name in errors: "/data/digits.npz: x".
  std::string NameOf(absl::string_view array) const;

  // Reads only the header of an array.
  absl::StatusOr<NpyHeader> ReadHeader(const std::string& array) const;

  // Reads a whole array. Allocates memory only if the file is large enough to
  // have the values.
  absl::StatusOr<StoredArray> Read(const std::string& array) const;

  // The same, but values stay in the archive if they are not compressed and
  // have more than `max_held_bytes`. Compares the checksum of the array, for
  // which it reads it once.
  absl::StatusOr<ArrayValues> OpenArray(
      const std::string& array, int64_t max_held_bytes = kMaxHeldBytes) const;

 private:
  explicit NpzArchive(ZipArchive archive) : archive_(std::move(archive)) {}

  ZipArchive archive_;
};

// Opens the rows of an array of an archive.
absl::StatusOr<StoredRows> OpenNpzRows(const std::string& path,
                                       const std::string& array,
                                       RowOrder order);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_NPZ_H_
