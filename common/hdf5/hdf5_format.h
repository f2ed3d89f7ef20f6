// What our reader and our writer of HDF5 share: element types, and numbers of
// the format. Source: the HDF5 File Format Specification, version 3.0,
// https://docs.hdfgroup.org/hdf5/v1_14/_f_m_t3.html
#ifndef PACELINE_COMMON_HDF5_HDF5_FORMAT_H_
#define PACELINE_COMMON_HDF5_HDF5_FORMAT_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/tensor/shape.h"

namespace paceline {

// The type of a dataset's elements, which are little-endian.
struct Hdf5Type {
  enum class Kind {
    // IEEE 754 of 2, 4 or 8 bytes.
    kFloat,
    kSigned,
    kUnsigned,
    // Uninterpreted bytes; Keras stores bfloat16 as 2 of these.
    kOpaque,
    // Any other, such as strings.
    kOther
  };
  Kind kind = Kind::kFloat;
  int64_t size_bytes = 4;

  friend bool operator==(const Hdf5Type&, const Hdf5Type&) = default;
};

struct Hdf5Dataset {
  Hdf5Type type;
  Shape shape;
  // Of its elements, in C order, from the start of the file.
  int64_t offset_bytes = 0;
};

namespace hdf5 {

inline constexpr absl::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
// A file begins with a superblock of this size, whose version is 0.
inline constexpr int64_t kSuperblockBytes = 96;
inline constexpr int64_t kGroupNodeHeaderBytes = 8;
inline constexpr int64_t kTreeHeaderBytes = 24;
inline constexpr int64_t kHeapHeaderBytes = 32;
inline constexpr int64_t kGlobalHeapHeaderBytes = 16;
inline constexpr int64_t kObjectHeaderBytes = 16;
inline constexpr int64_t kMessageHeaderBytes = 8;
inline constexpr int64_t kSymbolBytes = 40;
// An address that is not set.
inline constexpr uint64_t kUndefined = ~uint64_t{0};

// Types of messages in an object header.
enum MessageType : uint16_t {
  kDataspace = 0x0001,
  kLinkInfo = 0x0002,
  kDatatype = 0x0003,
  kFillValue = 0x0005,
  kLink = 0x0006,
  kExternalFiles = 0x0007,
  kDataLayout = 0x0008,
  kFilterPipeline = 0x000B,
  kAttribute = 0x000C,
  kContinuation = 0x0010,
  kSymbolTable = 0x0011,
};

// Classes of datatypes.
enum DatatypeClass : uint8_t {
  kFixedPoint = 0,
  kFloatingPoint = 1,
  kString = 3,
  kOpaque = 5,
  kVariableLength = 9
};

// A message of a floating-point type: where its sign, exponent and mantissa
// are.
struct FloatLayout {
  int64_t size_bytes;
  uint8_t exponent_at, exponent_bits, mantissa_bits;
  uint32_t exponent_bias;
};
inline constexpr FloatLayout kFloatLayouts[] = {
    {2, 10, 5, 10, 15}, {4, 23, 8, 23, 127}, {8, 52, 11, 52, 1023}};

}  // namespace hdf5
}  // namespace paceline

#endif  // PACELINE_COMMON_HDF5_HDF5_FORMAT_H_
