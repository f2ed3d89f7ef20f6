// IDX files, the format in which MNIST is published.
//
//   0x00 0x00 type rank | size of each dimension, uint32 | values in C order
//
// All numbers are big-endian; type is 08 uint8, 09 int8, 0B int16, 0C int32, 0D
// float32 or 0E float64. A file may be compressed with gzip, which its first
// bytes tell.
//
// Errors name the file, the field and its value. NotFound, PermissionDenied:
// the file cannot be opened. InvalidArgument: it is no regular file or no IDX
// file, has bytes after its values, or is larger than limits.h or the machine's
// memory allows. DataLoss: it is truncated, or its compressed data is damaged.
// ResourceExhausted: no memory is left.
#ifndef PACELINE_COMMON_DATA_SOURCE_IDX_H_
#define PACELINE_COMMON_DATA_SOURCE_IDX_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/data_source/element.h"
#include "common/data_source/stored_rows.h"
#include "common/tensor/shape.h"

namespace paceline {

struct IdxHeader {
  ElementType type = ElementType::kUint8;
  // At least one dimension, each at least 1.
  Shape shape;
};

// Reads only the header.
absl::StatusOr<IdxHeader> ReadIdxHeader(const std::string& path);

// Reads the whole file and converts the values to the machine's byte order.
// Allocates memory only if the file is large enough to have the values.
absl::StatusOr<StoredArray> ReadIdx(const std::string& path);

// Opens the rows of a file.
absl::StatusOr<StoredRows> OpenIdxRows(const std::string& path, RowOrder order);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IDX_H_
