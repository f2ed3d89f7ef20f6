// The messages of a call whose blocks' values come and go with each step.
//
// Fresh memory for them would cost more than what is computed. So the memory is
// used again, and the values of an answer take that of the values of its push.
#ifndef PACELINE_PS_SERVER_GRPC_MESSAGES_H_
#define PACELINE_PS_SERVER_GRPC_MESSAGES_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/rpc/block_codec.h"
#include "common/rpc/dense_values.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// Memory for the values of the blocks of one message.
using BlockMemory = std::vector<std::vector<std::byte>>;

// Memory of `size` bytes for block `index`, which the memory grows by if need
// be. Other blocks stay where they are.
absl::Span<std::byte> MemoryOf(size_t index, size_t size, BlockMemory& memory);

// Thread-safe.
class BlockMemoryPool {
 public:
  // What was returned last; empty if there is nothing.
  BlockMemory Take();
  // What would be too much is freed.
  void Return(BlockMemory memory);

 private:
  Mutex mutex_;
  std::vector<BlockMemory> free_ ABSL_GUARDED_BY(mutex_);
  size_t free_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A request and its response, and beside them their blocks, which lie in
// `memory`.
template <typename Request, typename Response>
struct BlockMessages {
  explicit BlockMessages(std::shared_ptr<BlockMemoryPool> memory_pool)
      : pool(std::move(memory_pool)), memory(pool->Take()) {}
  ~BlockMessages() { pool->Return(std::move(memory)); }
  BlockMessages(const BlockMessages&) = delete;
  BlockMessages& operator=(const BlockMessages&) = delete;

  // Makes buffers of these sizes for the variables, where gradients of the same
  // size are, else beside them.
  void MakeBuffers(absl::Span<const size_t> sizes) {
    for (size_t block = 0; block < sizes.size(); ++block) {
      const bool fits = block < gradients.size() &&
                        gradients[block].values.size() == sizes[block];
      const size_t index = fits ? block : gradients.size() + block;
      variables.push_back({MemoryOf(index, sizes[block], memory)});
    }
  }

  const std::shared_ptr<BlockMemoryPool> pool;
  BlockMemory memory;
  Request request;
  std::vector<DenseValues> gradients;
  Response response;
  // By block.
  std::vector<DenseBuffer> variables;
};

using PushMessages = BlockMessages<v1::PushRequest, v1::PushResponse>;

// Bytes of the variables of each block of the chunk that a push is for, or why
// there are none.
using BlockSizes = absl::FunctionRef<absl::StatusOr<absl::Span<const size_t>>(
    const v1::PushRequest&)>;

// Reads the request, and makes buffers for the variables if it asks for them.
// InvalidArgument if it is none, if it has more blocks than the chunk, or if
// its gradients have no elements; Unimplemented if they have rows; errors of
// `block_sizes`. What is not of the chunk takes no memory.
absl::Status ReadPush(grpc::ByteBuffer& bytes, BlockSizes block_sizes,
                      PushMessages& messages);

// The response with the variables that it has, which are sent from where they
// are.
template <typename Messages>
grpc::ByteBuffer WriteResponse(const std::shared_ptr<Messages>& messages) {
  std::vector<DenseValues> blocks;
  uint32_t index = 0;
  for (const DenseBuffer& buffer : messages->variables) {
    if (buffer.is_filled) {
      blocks.push_back({index, buffer.dtype, buffer.version, buffer.values});
    }
    ++index;
  }
  return WriteBlocks(messages->response,
                     messages->response.kVariablesFieldNumber, blocks,
                     messages);
}

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_GRPC_MESSAGES_H_
