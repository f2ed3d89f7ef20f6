// IDX files, the format in which MNIST is published.
//
//   0x00 0x00 type rank | size of each dimension, uint32 | values in C order
//
// All numbers are big-endian; type is 08 uint8, 09 int8, 0B int16, 0C int32, 0D
// float32 or 0E float64. A file may be compressed with gzip, which its first
// bytes tell.
//
// Errors name the file, the field and its value. NotFound, PermissionDenied,
// FailedPrecondition (a folder): the file cannot be opened. InvalidArgument: it
// is no IDX file, or has bytes after its values. DataLoss: it is truncated, or
// its compressed data is damaged. ResourceExhausted: it is larger than limits.h
// allows.
#ifndef PACELINE_COMMON_DATA_SOURCE_IDX_H_
#define PACELINE_COMMON_DATA_SOURCE_IDX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/data_source/element.h"
#include "common/data_source/gzip_file.h"
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

// Values of a compressed file that may be read as a stream, in bytes. Jumping
// to another row means decompressing everything in between, at some 300 MB/s,
// while the worker has a lease.
inline constexpr int64_t kMaxCompressedStreamBytes = int64_t{2} << 30;

// Reads the rows of a file on request; a row has the values for one index of
// the first dimension. Not thread-safe.
class IdxRows {
 public:
  // Reads the header. DataLoss if the file is too small for the values.
  // InvalidArgument if it is compressed and has more than
  // kMaxCompressedStreamBytes of values.
  static absl::StatusOr<IdxRows> Open(const std::string& path);

  const IdxHeader& header() const { return header_; }

  // Row `index`, in the machine's byte order; valid until the next call. See
  // GzipFile::Seek for the time that rows other than the next take. The last
  // row also checks the end of the file. Allocates only in the first call:
  // ResourceExhausted if there is no memory for a row.
  absl::StatusOr<Elements> Read(int64_t index);

 private:
  IdxRows(GzipFile file, IdxHeader header);

  GzipFile file_;
  IdxHeader header_;
  // The row at the current position in the file; -1: unknown.
  int64_t next_ = 0;
  int64_t row_size_ = 0;
  // Null before the first read.
  std::unique_ptr<std::byte[]> row_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IDX_H_
