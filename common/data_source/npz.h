// NumPy archives: a zip archive with one .npy file per array.
//
//   "\x93NUMPY" major minor | length of the header, uint16 (version 1) or
//   uint32 (2, 3), little-endian | header | values
//
// The header is a Python dictionary such as
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
//
// Supported are stored and deflated entries with little-endian values in C
// order: uint8, int8, int16, int32, int64, float32 or float64. Source:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Errors name the file, the array, the value and what is expected. NotFound,
// PermissionDenied, FailedPrecondition (a folder): the file cannot be opened;
// NotFound also if it has no such array. InvalidArgument: it is no archive, has
// several arrays of that name (NumPy would read the last), the array is not
// supported, or there are bytes after its values. DataLoss: the array is
// truncated or damaged. ResourceExhausted: it is larger than limits.h or the
// memory allows.
#ifndef PACELINE_COMMON_DATA_SOURCE_NPZ_H_
#define PACELINE_COMMON_DATA_SOURCE_NPZ_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/data_source/element.h"
#include "common/tensor/shape.h"
#include "common/zip/zip_archive.h"

namespace paceline {

struct NpzHeader {
  ElementType type = ElementType::kUint8;
  // At least one dimension, each at least 1.
  Shape shape;
};

// An open archive. Not thread-safe.
class NpzArchive {
 public:
  static absl::StatusOr<NpzArchive> Open(const std::string& path);

  // The array's name in errors: "/data/digits.npz: x".
  std::string NameOf(absl::string_view array) const;

  // Reads only the header of an array.
  absl::StatusOr<NpzHeader> ReadHeader(const std::string& array) const;

  // Reads a whole array. Allocates memory only if the file is large enough to
  // have the values.
  absl::StatusOr<StoredArray> Read(const std::string& array) const;

 private:
  explicit NpzArchive(ZipArchive archive) : archive_(std::move(archive)) {}

  ZipArchive archive_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_NPZ_H_
