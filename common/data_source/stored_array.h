// Reads an array of a known shape out of a file, and what every such file is
// held to: nothing is allocated for values that the file is too small to hold.
//
// Errors begin with the array's name, which begins with the file's, and have
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

// DEFLATE's best ratio: compressed bytes hold at most so many times as many.
inline constexpr int64_t kMaxDeflateRatio = 1032;

// InvalidArgument unless from 1 to limits::kMaxRank.
absl::Status CheckStoredRank(const std::string& name, int64_t rank);

// InvalidArgument unless the rank is right and each dimension at least 1;
// ResourceExhausted above limits::kMaxElements.
absl::Status CheckStoredShape(const std::string& name, const Shape& shape);

// DataLoss: the file ends in `field`.
absl::Status Truncated(const std::string& name, absl::string_view field,
                       int64_t got, int64_t expected);

// Reads `size` bytes, fewer only at the end, where it checks the checksum.
using ReadBytes =
    absl::FunctionRef<absl::StatusOr<int64_t>(void* out, int64_t size)>;

// The rest of a file, behind what says which array it is.
struct StoredValues {
  // The most bytes that the file can hold, by its size or by what it says.
  int64_t capacity_bytes = 0;
  ReadBytes read;
};

// The bytes of the values. `shape` was checked. DataLoss if the file cannot
// hold them, ResourceExhausted above limits::kMaxDataFileBytes.
absl::StatusOr<int64_t> StoredBytes(const std::string& name, ElementType type,
                                    const Shape& shape, int64_t capacity_bytes);

// InvalidArgument if `read`, which has read all values, gives more. Reading on
// also has the checksum compared.
absl::Status CheckEnd(const std::string& name, ElementType type,
                      const Shape& shape, const ReadBytes& read);

// Reads the values, to the end of the file, with the errors of both above, of
// `values.read`, DataLoss if there are too few values, and ResourceExhausted
// where memory is lacking.
absl::StatusOr<StoredArray> ReadStoredArray(const std::string& name,
                                            ElementType type, Shape shape,
                                            const StoredValues& values);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_STORED_ARRAY_H_
