// The header of a call on the wire: its content, and behind it the proof.
// proto/paceline/v1/call.proto specifies it.
#ifndef PACELINE_COMMON_IDENTITY_CALL_HEADER_H_
#define PACELINE_COMMON_IDENTITY_CALL_HEADER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "paceline/v1/call.pb.h"

namespace paceline {

// The metadata of a call that has its header, and of a refusal that has the
// challenge of the connection.
inline constexpr char kHeaderKey[] = "paceline-call-bin";
inline constexpr char kChallengeKey[] = "paceline-challenge-bin";

// The bytes of a header with `mac` behind its `content`.
std::string SignedHeader(absl::string_view content, absl::string_view mac);

// A header as it came.
struct ReceivedHeader {
  v1::CallHeader header;
  // What the proof covers; a part of the bytes that were read.
  absl::string_view content;
  // "" if there is none.
  absl::string_view mac;
};

// InvalidArgument if the bytes are no header, or one whose fields hold
// nonsense: a task without a type, no incarnation, a sequence number of 0, an
// id that is none. `bytes` outlive the result.
absl::StatusOr<ReceivedHeader> ReadHeader(absl::string_view bytes);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_CALL_HEADER_H_
