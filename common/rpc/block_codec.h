// Messages that carry blocks, without copies of the blocks' values.
//
// On the wire such a message is the protobuf of proto/, so that any client of
// the service can be talked to. Here, values are sent from the memory where
// they lie, as slices of gRPC's, and received into the memory where they
// belong: one copy, that of the receiver. (TensorFlow's grpc_tensor_coding does
// the same.)
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

// A message and its blocks, which are the repeated field `field` of it; it has
// none itself. Until the buffer's last slice is gone, `owner` is kept and the
// values stay as they are.
grpc::ByteBuffer WriteBlocks(const google::protobuf::MessageLite& message,
                             int field, absl::Span<const DenseValues> blocks,
                             const std::shared_ptr<const void>& owner);

// Where blocks that are read go.
class BlockReceiver {
 public:
  virtual ~BlockReceiver() = default;
  // The other fields of the message are read, and it has so many blocks. An
  // error ends the reading: before any block takes memory.
  virtual absl::Status Expect(size_t block_count) = 0;
  // A block begins; what is not its dense values is read into the result, which
  // is cleared before.
  virtual v1::Block* Begin() = 0;
  // Memory for `size` bytes of values. What of the block comes before its
  // values on the wire, as all but foreign clients have it, is there.
  virtual absl::StatusOr<absl::Span<std::byte>> BufferFor(
      const v1::Block& block, size_t size) = 0;
  virtual absl::Status End(const v1::Block& block) = 0;
};

// Reads a message whose blocks are field `field`; the other fields are merged
// into `message`. InvalidArgument if it is no such message, or has more beside
// the values of blocks than limits.h allows; errors of the receiver.
//
// Goes over the bytes twice, whose order is the sender's: first for all but the
// blocks, which are only counted, then for these.
absl::Status ReadBlocks(grpc::ByteBuffer& buffer, int field,
                        google::protobuf::MessageLite& message,
                        BlockReceiver& receiver);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_BLOCK_CODEC_H_
