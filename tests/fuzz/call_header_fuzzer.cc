// The header of a call, which strangers may send.
#include "common/identity/call_header.h"
#include "glog/logging.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const std::string bytes(input.rest());
  const absl::StatusOr<ReceivedHeader> read = ReadHeader(bytes);
  if (!read.ok()) return;
  CHECK_NE(read->header.incarnation(), 0u);
  CHECK_LE(read->content.size() + read->mac.size(), bytes.size());
}

}  // namespace paceline
