// Converts messages from and to gRPC's byte buffers.
#ifndef PACELINE_COMMON_RPC_MESSAGE_BYTES_H_
#define PACELINE_COMMON_RPC_MESSAGE_BYTES_H_

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"

namespace paceline {

// Parses and consumes the bytes. InvalidArgument if they are malformed.
template <typename Message>
absl::Status ReadMessage(grpc::ByteBuffer& bytes, Message& message) {
  const grpc::Status status =
      grpc::SerializationTraits<Message>::Deserialize(&bytes, &message);
  return status.ok() ? absl::OkStatus()
                     : absl::InvalidArgumentError(status.error_message());
}

template <typename Message>
grpc::ByteBuffer WriteMessage(const Message& message) {
  grpc::ByteBuffer bytes;
  bool own = false;
  grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own);
  return bytes;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_MESSAGE_BYTES_H_
