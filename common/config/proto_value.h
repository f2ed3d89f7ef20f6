// Converts between Value and google.protobuf.Struct.
#ifndef PACELINE_COMMON_CONFIG_PROTO_VALUE_H_
#define PACELINE_COMMON_CONFIG_PROTO_VALUE_H_

#include "absl/status/status.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "google/protobuf/struct.pb.h"

namespace paceline {

// Struct has only doubles: whole numbers within 2^53 become ints.
Value ValueFromProto(const google::protobuf::Value& proto);
Value ValueFromProto(const google::protobuf::Struct& proto);
// InvalidArgument, with its path, for an int beyond 2^53, which Struct may not
// represent exactly.
absl::Status CheckWholeNumbers(const Value& value, const Path& path);
google::protobuf::Value ToProtoValue(const Value& value);
// Converts a map. Ints that CheckWholeNumbers refuses are rounded.
google::protobuf::Struct ToProtoStruct(const Value& map);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_PROTO_VALUE_H_
