// Encodes and decodes messages with blocks without copying the blocks' values.
//
// In transit, such a message is the protobuf in proto/, so any gRPC client can
// use the service. Here, values are sent from the memory where they are, as
// slices of gRPC's buffers, and received directly into their destination: the
// receiver makes the only copy. TensorFlow's grpc_tensor_coding does the same.
#ifndef PACELINE_COMMON_RPC_BLOCK_CODEC_H_
#define PACELINE_COMMON_RPC_BLOCK_CODEC_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/rpc/dense_values.h"
#include "google/protobuf/message_lite.h"
#include "paceline/v1/tensor.pb.h"

namespace paceline {

// Encodes `message` with `blocks` as its repeated field `field`, which must be
// empty in `message`. The values must not change until the buffer's last slice
// is released; `owner` is kept alive until then.
grpc::ByteBuffer WriteBlocks(const google::protobuf::MessageLite& message,
                             int field, absl::Span<const DenseValues> blocks,
                             const std::shared_ptr<const void>& owner);

// Provides the memory for blocks that are read.
class BlockReceiver {
 public:
  virtual ~BlockReceiver() = default;
  // Called once the other fields of the message are read, with the number of
  // blocks. An error ends the reading before any block needs memory.
  virtual absl::Status Expect(size_t block_count) = 0;
  // Called at the start of a block. Everything but the dense values is read
  // into the result, which is cleared first.
  virtual v1::Block* Begin() = 0;
  // Returns memory for `size` bytes of values. `block` has the fields that come
  // before the values in the message; our own clients send all of them first.
  virtual absl::StatusOr<absl::Span<std::byte>> BufferFor(
      const v1::Block& block, size_t size) = 0;
  virtual absl::Status End(const v1::Block& block) = 0;
};

// Reads a message whose blocks are field `field`; merges the other fields into
// `message`. InvalidArgument if it is no such message, or has more bytes
// outside of block values than limits.h allows; or an error of the receiver.
//
// Reads the bytes twice, since the sender may use any order of fields: first
// everything but the blocks, which are only counted, then the blocks.
absl::Status ReadBlocks(grpc::ByteBuffer& buffer, int field,
                        google::protobuf::MessageLite& message,
                        BlockReceiver& receiver);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_BLOCK_CODEC_H_
