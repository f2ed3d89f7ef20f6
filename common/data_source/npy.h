// NumPy's .npy files: one array.
//
//   "\x93NUMPY" major minor | length of the header, uint16 (version 1) or
//   uint32 (2, 3), little-endian | header | values
//
// The header is a Python dictionary such as
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
//
// Supported are little-endian values in C order: uint8, int8, int16, int32,
// int64, float32 or float64. Source:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Errors name the file, the value and what is expected. InvalidArgument: it is
// no array, the array is not supported, there are bytes after its values, or it
// is larger than limits.h or the machine's memory allows. DataLoss: it is
// truncated. ResourceExhausted: no memory is left. Else errors are those of
// GzipFile.
#ifndef PACELINE_COMMON_DATA_SOURCE_NPY_H_
#define PACELINE_COMMON_DATA_SOURCE_NPY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/data_source/array_values.h"
#include "common/data_source/element.h"
#include "common/data_source/stored_array.h"
#include "common/data_source/stored_rows.h"
#include "common/tensor/shape.h"

namespace paceline {

struct NpyHeader {
  ElementType type = ElementType::kUint8;
  // At least one dimension, each at least 1.
  Shape shape;
};

// Reads from the magic number to the end of the header. `name`: the array in
// errors.
absl::StatusOr<NpyHeader> ReadNpyHeader(const std::string& name,
                                        const ReadBytes& read);

// Reads the header of a file, or the whole file, which may be compressed with
// gzip.
absl::StatusOr<NpyHeader> ReadNpyHeader(const std::string& path);
absl::StatusOr<StoredArray> ReadNpy(const std::string& path);

// The same as ReadNpy, but values stay in the file if it is not compressed and
// they have more than `max_held_bytes`. Errors of opening are those of
// StableFile.
absl::StatusOr<ArrayValues> OpenNpy(const std::string& path,
                                    int64_t max_held_bytes = kMaxHeldBytes);

// The array that a part of a file is; `name`: in errors.
absl::StatusOr<ArrayValues> OpenNpyPart(const std::string& name, FilePart part,
                                        int64_t max_held_bytes);

// Opens the rows of the array that `bytes` begin with, or of a file, which may
// be compressed with gzip.
absl::StatusOr<StoredRows> OpenNpyRows(std::unique_ptr<ArrayBytes> bytes,
                                       RowOrder order);
absl::StatusOr<StoredRows> OpenNpyRows(const std::string& path, RowOrder order);

// What stands before the float32 values of an array of this shape in C order.
std::string NpyStart(const Shape& shape);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_NPY_H_
