// The size of the data of a safetensors file, and its header.
#include <glog/logging.h>

#include "common/safetensors/safetensors.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const auto data_size = static_cast<int64_t>(input.Number() & INT64_MAX);
  const auto header = ParseSafetensorsHeader(input.rest(), data_size);
  if (!header.ok()) return;
  for (const auto& [name, tensor] : header->tensors) {
    CHECK(0 <= tensor.begin_bytes && tensor.begin_bytes <= tensor.end_bytes &&
          tensor.end_bytes <= data_size)
        << name;
  }
}

}  // namespace paceline
