// Blocks of a call whose values lie outside of its messages.
#ifndef PACELINE_COMMON_RPC_DENSE_VALUES_H_
#define PACELINE_COMMON_RPC_DENSE_VALUES_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "paceline/v1/tensor.pb.h"

namespace paceline {

// Consecutive elements of a block that is sent: all, unless there is an offset.
struct DenseValues {
  uint32_t index = 0;
  v1::DataType dtype = v1::DATA_TYPE_UNSPECIFIED;
  uint64_t version = 0;
  absl::Span<const std::byte> values;
  // Of the first element within the block.
  uint64_t offset = 0;
};

// Where all elements of a block go that is received.
struct DenseBuffer {
  absl::Span<std::byte> values;
  // Whether the block has come, its version and its type.
  bool is_filled = false;
  uint64_t version = 0;
  v1::DataType dtype = v1::DATA_TYPE_UNSPECIFIED;
};

// The buffer of a block that has come with so many bytes; InvalidArgument if it
// has none.
absl::StatusOr<DenseBuffer*> FindBuffer(uint32_t index, size_t size,
                                        absl::Span<DenseBuffer> buffers);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_DENSE_VALUES_H_
