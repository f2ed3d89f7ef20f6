#include "worker/strategy/broadcast_variables.h"

#include <cstddef>
#include <cstdint>

#include "common/base/status_macros.h"
#include "worker/collective/collectives.h"

namespace paceline {

absl::Status BroadcastVariables(Transport& transport,
                                const BucketLayout& layout,
                                LocalVariables& variables) {
  Collectives collectives(transport);
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    const int bucket = static_cast<int>(b);
    const int slots =
        layout.buckets()[b].is_trained() ? variables.slot_count() : 0;
    for (int slot = -1; slot < slots; ++slot) {
      RETURN_IF_ERROR(
          collectives.Broadcast(variables.memory(bucket, slot), /*root=*/0));
    }
  }
  int64_t iterations = variables.iterations();
  RETURN_IF_ERROR(collectives.Broadcast(
      {reinterpret_cast<std::byte*>(&iterations), sizeof(iterations)},
      /*root=*/0));
  variables.set_iterations(iterations);
  return absl::OkStatus();
}

}  // namespace paceline
