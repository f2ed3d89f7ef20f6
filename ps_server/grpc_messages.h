// The messages of a call whose blocks' values come and go with each step.
//
// Fresh memory for them would cost more than what is computed. So the memory is
// used again, and the values of an answer take that of the values of its push.
#ifndef PACELINE_PS_SERVER_GRPC_MESSAGES_H_
#define PACELINE_PS_SERVER_GRPC_MESSAGES_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/rpc/block_codec.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/shard_variables.h"

namespace paceline {

// Memory for the values of the blocks of one message.
using BlockMemory = std::vector<std::string>;

// Moves the memory of the blocks' values.
void TakeMemory(Blocks& blocks, BlockMemory& memory);

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

// A request and its response; `Response` has variables.
template <typename Request, typename Response>
struct BlockMessages {
  explicit BlockMessages(std::shared_ptr<BlockMemoryPool> memory_pool)
      : pool(std::move(memory_pool)), spare(pool->Take()) {}
  ~BlockMessages() {
    TakeMemory(*response.mutable_variables(), spare);
    if constexpr (requires { request.mutable_gradients(); }) {
      TakeMemory(*request.mutable_gradients(), spare);
    }
    pool->Return(std::move(spare));
  }
  BlockMessages(const BlockMessages&) = delete;
  BlockMessages& operator=(const BlockMessages&) = delete;

  const std::shared_ptr<BlockMemoryPool> pool;
  BlockMemory spare;
  Request request;
  Response response;
};

using PushMessages = BlockMessages<v1::PushRequest, v1::PushResponse>;

// Reads the request. InvalidArgument if it is none.
absl::Status ReadPush(grpc::ByteBuffer& bytes, PushMessages& messages);

// Gives the response, which has no variables yet, the memory for them.
template <typename Messages>
void GiveMemory(Messages& messages) {
  for (std::string& values : messages.spare) {
    messages.response.add_variables()->mutable_dense()->mutable_values()->swap(
        values);
  }
  messages.spare.clear();
}

// The response with its variables, which are sent from where they are in it.
template <typename Messages>
grpc::ByteBuffer WriteResponse(const std::shared_ptr<Messages>& messages) {
  auto& response = messages->response;
  Blocks variables;
  variables.Swap(response.mutable_variables());
  std::vector<DenseValues> blocks;
  for (const v1::Block& block : variables) {
    const std::string& values = block.dense().values();
    blocks.push_back(
        {block.index(),
         block.dtype(),
         block.version(),
         {reinterpret_cast<const std::byte*>(values.data()), values.size()}});
  }
  grpc::ByteBuffer bytes =
      WriteBlocks(response, response.kVariablesFieldNumber, blocks, messages);
  variables.Swap(response.mutable_variables());
  return bytes;
}

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_GRPC_MESSAGES_H_
