// Protobuf's encoding, for messages of TensorFlow of which we write a few
// fields: so we need none of its .proto files, which import many others.
// A message is its fields, one after the other.
#ifndef PACELINE_COMMON_CALLBACK_PROTOBUF_ENCODING_H_
#define PACELINE_COMMON_CALLBACK_PROTOBUF_ENCODING_H_

#include <cstdint>
#include <string>

namespace paceline {

// The bytes of a fixed-size number, little-endian.
std::string FixedBytes(float number);
std::string FixedBytes(double number);
std::string FixedBytes(uint32_t number);
std::string FixedBytes(uint64_t number);

// Fields with their keys. A whole number, as int64, uint64 or an enumeration.
std::string WholeField(int field, uint64_t value);
std::string DoubleField(int field, double value);
// A string, bytes, a message or packed numbers. In the memory of `value`, which
// may be large, if it fits.
std::string BytesField(int field, std::string value);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_PROTOBUF_ENCODING_H_
