// What members tell their leader: who they are, and how far they are.
#include <utility>

#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_session.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  FuzzSession session(
      FuzzSessionOptions(input.Below(2) == 0 ? v1::CONSISTENCY_ASYNC
                                             : v1::CONSISTENCY_SYNC),
      /*step=*/0);
  while (!input.is_empty()) {
    if (input.Below(4) == 0) {
      session.Work();
    } else {
      session.Hear(input);
    }
  }
}

}  // namespace paceline
