// Reads the rows of an array on request; a row has the values for one index of
// the first dimension. So memory does not grow with the array.
#ifndef PACELINE_COMMON_DATA_SOURCE_STORED_ROWS_H_
#define PACELINE_COMMON_DATA_SOURCE_STORED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/element.h"
#include "common/data_source/gzip_file.h"
#include "common/tensor/shape.h"

namespace paceline {

// Values of a compressed file that may be read in any order, in bytes. Jumping
// to another row means decompressing everything in between, at some 300 MB/s,
// while the worker has a lease.
inline constexpr int64_t kMaxCompressedStreamBytes = int64_t{2} << 30;

// In which order rows are read: each once, from the first on, or in any.
enum class RowOrder { kOnce, kAny };

// The bytes of an array with its header. Not thread-safe. Errors start with the
// name.
class ArrayBytes {
 public:
  virtual ~ArrayBytes() = default;

  virtual const std::string& name() const = 0;
  // An upper bound of their number; the number, unless they are compressed.
  virtual int64_t capacity_bytes() const = 0;
  virtual bool is_compressed() const = 0;

  // Reads `size` bytes; fewer only at the end, where it compares checksums, if
  // Seek was not called.
  virtual absl::StatusOr<int64_t> Read(void* out, int64_t size) = 0;
  // The next Read starts at `offset`. If they are compressed, everything in
  // between is decompressed; everything from the beginning, if `offset` is
  // before the current position.
  virtual absl::Status Seek(int64_t offset) = 0;
};

// The bytes of a file.
std::unique_ptr<ArrayBytes> BytesOf(GzipFile file);

// What a file has between a header and its end.
struct StoredValuesSpec {
  ElementType type = ElementType::kUint8;
  // At least one dimension, each at least 1.
  Shape shape;
  // Where the values begin.
  int64_t offset_bytes = 0;
  // Brings `count` values in place into the machine's byte order. Null: they
  // are in it.
  std::function<void(std::byte* values, int64_t count)> to_machine_order =
      nullptr;
};

// Not thread-safe.
class StoredRows {
 public:
  // `bytes` stand at the first value. DataLoss if there are too few for the
  // values; InvalidArgument if there are more, as far as that is known without
  // reading them, or if they are compressed and there are too many for `order`.
  static absl::StatusOr<StoredRows> Make(std::unique_ptr<ArrayBytes> bytes,
                                         StoredValuesSpec spec, RowOrder order);

  ElementType type() const { return spec_.type; }
  const Shape& shape() const { return spec_.shape; }

  // Row `index`, in the machine's byte order; valid until the next call. The
  // last row also checks the end of the bytes. Allocates only in the first
  // call: ResourceExhausted if there is no memory for a row.
  absl::StatusOr<Elements> Read(int64_t index);

 private:
  StoredRows(std::unique_ptr<ArrayBytes> bytes, StoredValuesSpec spec);

  std::unique_ptr<ArrayBytes> bytes_;
  StoredValuesSpec spec_;
  // The row at the current position; -1: unknown.
  int64_t next_ = 0;
  int64_t row_size_ = 0;
  // Null before the first read.
  std::unique_ptr<std::byte[]> row_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_STORED_ROWS_H_
