#include "common/rpc/dense_values.h"

#include "absl/strings/str_cat.h"

namespace paceline {

absl::StatusOr<DenseBuffer*> FindBuffer(uint32_t index, size_t size,
                                        absl::Span<DenseBuffer> buffers) {
  if (index >= buffers.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "it has a block ", index, ", expected ", buffers.size(), " blocks"));
  }
  DenseBuffer& buffer = buffers[index];
  if (size != buffer.values.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", size, " bytes of block ", index, ", expected ",
                     buffer.values.size()));
  }
  return &buffer;
}

}  // namespace paceline
