// What a connection between workers begins with.
#include "glog/logging.h"
#include "tests/fuzz/fuzz_input.h"
#include "worker/collective/handshake.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const std::string bytes(input.rest());
  const absl::StatusOr<Hello> hello = ReadHello(bytes);
  if (!hello.ok()) return;
  const absl::StatusOr<Hello> again = ReadHello(WriteHello(*hello));
  CHECK(again.ok()) << again.status();
  CHECK(again->job == hello->job && again->nonce == hello->nonce);
  CHECK_EQ(again->from, hello->from);
  CHECK_EQ(again->region.inode, hello->region.inode);
}

}  // namespace paceline
