// IDX files, the format MNIST is published in.
//
//   0x00 0x00 type rank | size of each dimension, uint32 | values in C order
//
// Everything is big-endian; type is 08 uint8, 09 int8, 0B int16, 0C int32, 0D
// float32 or 0E float64. A file may be compressed with gzip: its first bytes
// tell.
//
// Errors name the file, the field and its value. NotFound, PermissionDenied,
// FailedPrecondition (it is a folder): the file cannot be opened.
// InvalidArgument: it is no IDX file, or has bytes after its values. DataLoss:
// it is truncated or its compressed data is damaged. ResourceExhausted: it is
// larger than limits.h allows.
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

// Reads the header alone, however large the file is.
absl::StatusOr<IdxHeader> ReadIdxHeader(const std::string& path);

// Reads the whole file, with its values in the byte order of the machine.
// Allocates nothing for values that the file is too small to hold.
absl::StatusOr<StoredArray> ReadIdx(const std::string& path);

// Bytes of values of a compressed file whose rows are read one by one. To go to
// another row is to inflate what lies between, some 300 MB a second, and a
// worker does that while it holds a lease.
inline constexpr int64_t kMaxCompressedStreamBytes = int64_t{2} << 30;

// The rows of a file, which are read as they are asked for: the values of an
// index of the first dimension. Not thread-safe.
class IdxRows {
 public:
  // Reads the header. DataLoss if the file is too small for the values.
  // InvalidArgument if it is compressed and has more than
  // kMaxCompressedStreamBytes of values.
  static absl::StatusOr<IdxRows> Open(const std::string& path);

  const IdxHeader& header() const { return header_; }

  // Row `index` of those that the header has, in the byte order of the machine;
  // valid until the next call. GzipFile::Seek says what another row than the
  // next takes. The last row has the end of the file checked. Allocates in the
  // first call alone: ResourceExhausted if there is no memory for a row.
  absl::StatusOr<Elements> Read(int64_t index);

 private:
  IdxRows(GzipFile file, IdxHeader header);

  GzipFile file_;
  IdxHeader header_;
  // Where the file stands.
  int64_t next_ = 0;
  int64_t row_size_ = 0;
  // Null until the first row is read.
  std::unique_ptr<std::byte[]> row_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IDX_H_
