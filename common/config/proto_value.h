// Values as google.protobuf.Struct, and back.
#ifndef PACELINE_COMMON_CONFIG_PROTO_VALUE_H_
#define PACELINE_COMMON_CONFIG_PROTO_VALUE_H_

#include "absl/status/status.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "google/protobuf/struct.pb.h"

namespace paceline {

// Struct has no integers: a whole number within 2^53 is read back as an int.
Value ValueFromProto(const google::protobuf::Value& proto);
Value ValueFromProto(const google::protobuf::Struct& proto);
// InvalidArgument, at its path, for an int beyond 2^53, which Struct may not
// hold.
absl::Status CheckWholeNumbers(const Value& value, const Path& path);
google::protobuf::Value ToProtoValue(const Value& value);
// Of a map. Ints that CheckWholeNumbers refuses lose their last digits.
google::protobuf::Struct ToProtoStruct(const Value& map);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_PROTO_VALUE_H_
