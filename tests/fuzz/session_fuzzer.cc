// What members tell their leader: who they are, and how far they are.
#include <cstdint>
#include <memory>
#include <utility>

#include "common/callback/make_callbacks.h"
#include "glog/logging.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_session.h"

namespace paceline {
namespace {

// Around a validation the variables change places with their averages.
std::shared_ptr<CallbackList> SwappingCallbacks() {
  v1::Job job;
  job.add_callbacks()->set_class_name("SwapEMAWeights");
  CallbackContext context;
  context.has_averages = true;
  auto callbacks = MakeCallbacks(job, context);
  CHECK(callbacks.ok()) << callbacks.status();
  return *std::move(callbacks);
}

}  // namespace

void Fuzz(FuzzInput input) {
  const uint32_t kind = input.Below(4);
  SessionOptions options = FuzzSessionOptions(
      kind % 2 == 0 ? v1::CONSISTENCY_ASYNC : v1::CONSISTENCY_SYNC);
  if (kind >= 2) options.callbacks = SwappingCallbacks();
  FuzzSession session(std::move(options), /*step=*/0);
  while (!input.is_empty()) {
    if (input.Below(4) == 0) {
      session.Work();
    } else {
      session.Hear(input);
    }
  }
}

}  // namespace paceline
