// Reads an array of known shape from a file. All formats share these checks; in
// particular no memory is allocated for values that the file is too small to
// have.
//
// Errors start with the array's name, which starts with the file's, and have
// the value and what is expected.
#ifndef PACELINE_COMMON_DATA_SOURCE_STORED_ARRAY_H_
#define PACELINE_COMMON_DATA_SOURCE_STORED_ARRAY_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/data_source/element.h"
#include "common/tensor/shape.h"

namespace paceline {

// InvalidArgument unless the rank is from 1 to limits::kMaxRank.
absl::Status CheckStoredRank(const std::string& name, int64_t rank);

// InvalidArgument unless the rank is valid, each dimension at least 1, and the
// number of elements at most limits::kMaxElements.
absl::Status CheckStoredShape(const std::string& name, const Shape& shape);

// DataLoss: the file ends within `field`.
absl::Status Truncated(const std::string& name, absl::string_view field,
                       int64_t got, int64_t expected);

// Reads `size` bytes; fewer only at the end, where it compares the checksum.
using ReadBytes =
    absl::FunctionRef<absl::StatusOr<int64_t>(void* out, int64_t size)>;

// The part of a file after its header.
struct StoredValues {
  // An upper bound of the bytes that the file can have.
  int64_t capacity_bytes = 0;
  ReadBytes read;
};

// The size of the values in bytes. `shape` must have been checked. DataLoss if
// the file cannot have so many; InvalidArgument above
// limits::kMaxDataFileBytes.
absl::StatusOr<int64_t> StoredBytes(const std::string& name, ElementType type,
                                    const Shape& shape, int64_t capacity_bytes);

// InvalidArgument: there are bytes after the values.
absl::Status BytesAfter(const std::string& name, ElementType type,
                        const Shape& shape);

// Call it after reading all values: InvalidArgument if `read` returns more
// bytes. Reading on also compares the checksum.
absl::Status CheckEnd(const std::string& name, ElementType type,
                      const Shape& shape, const ReadBytes& read);

// Reads the values up to the end of the file. Errors are those of StoredBytes,
// CheckEnd and `values.read`; DataLoss if there are too few values,
// InvalidArgument if there are more than the machine has memory for, and
// ResourceExhausted if no memory is left.
absl::StatusOr<StoredArray> ReadStoredArray(const std::string& name,
                                            ElementType type, Shape shape,
                                            const StoredValues& values);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_STORED_ARRAY_H_
