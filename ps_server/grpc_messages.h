// Messages with blocks, whose memory is reused in the next step.
//
// Allocating fresh memory for each message would cost more than the update
// itself. So a pool keeps the memory, and the variables in an answer use the
// memory of the gradients in the push.
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

// Memory for the blocks of one message.
using BlockMemory = std::vector<std::vector<std::byte>>;

// The memory of block `index`, resized to `size` bytes. Adds blocks if `memory`
// has fewer; other blocks do not move.
absl::Span<std::byte> MemoryOf(size_t index, size_t size, BlockMemory& memory);

// Thread-safe.
class BlockMemoryPool {
 public:
  // The memory returned last; empty if there is none.
  BlockMemory Take();
  // Frees the memory instead if the pool has enough.
  void Return(BlockMemory memory);

 private:
  Mutex mutex_;
  std::vector<BlockMemory> free_ ABSL_GUARDED_BY(mutex_);
  size_t free_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A request and its response, with the blocks of both in `memory`.
template <typename Request, typename Response>
struct BlockMessages {
  explicit BlockMessages(std::shared_ptr<BlockMemoryPool> memory_pool)
      : pool(std::move(memory_pool)), memory(pool->Take()) {}
  ~BlockMessages() { pool->Return(std::move(memory)); }
  BlockMessages(const BlockMessages&) = delete;
  BlockMessages& operator=(const BlockMessages&) = delete;

  // Makes buffers of these sizes for the variables: in the memory of gradients
  // of the same size, else in new memory.
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

// Returns bytes of the variables of each block of the chunk that a push is for,
// or the error of the push.
using BlockSizes = absl::FunctionRef<absl::StatusOr<absl::Span<const size_t>>(
    const v1::PushRequest&)>;

// Parses the request, and makes buffers for the variables if it asks for them.
// InvalidArgument if the request cannot be parsed, has more blocks than the
// chunk, or gradients without elements; Unimplemented if gradients have rows;
// else errors of `block_sizes`. Allocates memory only for blocks of the chunk.
absl::Status ReadPush(grpc::ByteBuffer& bytes, BlockSizes block_sizes,
                      PushMessages& messages);

// The response, with the variables that it has. The buffer refers to them
// without a copy.
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
