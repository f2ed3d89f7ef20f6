// The header of a call in its metadata: the serialised content, followed by the
// proof. Specified in proto/paceline/v1/call.proto.
#ifndef PACELINE_COMMON_IDENTITY_CALL_HEADER_H_
#define PACELINE_COMMON_IDENTITY_CALL_HEADER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "paceline/v1/call.pb.h"

namespace paceline {

// The metadata keys: of a call, for its header; and of a refusal, for the
// connection's challenge.
inline constexpr char kHeaderKey[] = "paceline-call-bin";
inline constexpr char kChallengeKey[] = "paceline-challenge-bin";

// `content` followed by the field `mac`.
std::string SignedHeader(absl::string_view content, absl::string_view mac);

// A parsed header.
struct ReceivedHeader {
  v1::CallHeader header;
  // The bytes that the proof covers; points into the parsed bytes.
  absl::string_view content;
  // "" if there is no proof.
  absl::string_view mac;
};

// InvalidArgument if the bytes cannot be parsed, or a field is invalid: a task
// without a type, no incarnation, a sequence number of 0, a malformed id.
// `bytes` must outlive the result.
absl::StatusOr<ReceivedHeader> ReadHeader(absl::string_view bytes);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_CALL_HEADER_H_
