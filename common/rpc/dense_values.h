// Blocks of a call whose values lie outside of its messages.
#ifndef PACELINE_COMMON_RPC_DENSE_VALUES_H_
#define PACELINE_COMMON_RPC_DENSE_VALUES_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "paceline/v1/tensor.pb.h"

namespace paceline {

// All elements of a block that is sent.
struct DenseValues {
  uint32_t index = 0;
  v1::DataType dtype = v1::DATA_TYPE_UNSPECIFIED;
  uint64_t version = 0;
  absl::Span<const std::byte> values;
};

// Where all elements of a block go that is received.
struct DensePlace {
  absl::Span<std::byte> values;
  // Whether the block has come, and its version.
  bool is_filled = false;
  uint64_t version = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_DENSE_VALUES_H_
