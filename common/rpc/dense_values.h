// Blocks of a call whose values are outside of its messages.
#ifndef PACELINE_COMMON_RPC_DENSE_VALUES_H_
#define PACELINE_COMMON_RPC_DENSE_VALUES_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "paceline/v1/tensor.pb.h"

namespace paceline {

// Values to send: consecutive elements of a block, from `offset` on.
struct DenseValues {
  uint32_t index = 0;
  v1::DataType dtype = v1::DATA_TYPE_UNSPECIFIED;
  uint64_t version = 0;
  absl::Span<const std::byte> values;
  // The first element within the block.
  uint64_t offset = 0;
};

// Destination for all elements of a block to be received.
struct DenseBuffer {
  absl::Span<std::byte> values;
  // Set when the block has arrived, with its version and type.
  bool is_filled = false;
  uint64_t version = 0;
  v1::DataType dtype = v1::DATA_TYPE_UNSPECIFIED;
};

// The buffer for an arrived block of `size` bytes; InvalidArgument if there is
// none of that size.
absl::StatusOr<DenseBuffer*> FindBuffer(uint32_t index, size_t size,
                                        absl::Span<DenseBuffer> buffers);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_DENSE_VALUES_H_
