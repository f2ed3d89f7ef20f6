#include "ps_server/grpc_messages.h"

namespace paceline {
namespace {

// What is kept beyond the calls under way.
constexpr size_t kMaxFreeBytes = size_t{256} << 20;

size_t BytesOf(const BlockMemory& memory) {
  size_t bytes = 0;
  for (const std::string& values : memory) bytes += values.capacity();
  return bytes;
}

// Gradients that are read into a push.
class PushedBlocks final : public BlockReceiver {
 public:
  explicit PushedBlocks(PushMessages& messages) : messages_(messages) {}

  v1::Block* Begin() override { return messages_.request.add_gradients(); }

  absl::StatusOr<absl::Span<std::byte>> Place(const v1::Block& /*block*/,
                                              size_t size) override {
    Blocks& gradients = *messages_.request.mutable_gradients();
    std::string& values =
        *gradients[gradients.size() - 1].mutable_dense()->mutable_values();
    if (!messages_.spare.empty()) {
      values = std::move(messages_.spare.back());
      messages_.spare.pop_back();
    }
    // Of the same size in each step, so nothing is filled.
    values.resize(size);
    return absl::Span<std::byte>(reinterpret_cast<std::byte*>(values.data()),
                                 size);
  }

  absl::Status End(const v1::Block& /*block*/) override {
    return absl::OkStatus();
  }

 private:
  PushMessages& messages_;
};

}  // namespace

void TakeMemory(Blocks& blocks, BlockMemory& memory) {
  // The first block's is taken first in the next step.
  for (int i = blocks.size() - 1; i >= 0; --i) {
    if (!blocks[i].has_dense()) continue;
    std::string& values = *blocks[i].mutable_dense()->mutable_values();
    if (!values.empty()) memory.push_back(std::move(values));
  }
}

BlockMemory BlockMemoryPool::Take() {
  MutexLock lock(mutex_);
  if (free_.empty()) return {};
  BlockMemory memory = std::move(free_.back());
  free_.pop_back();
  free_bytes_ -= BytesOf(memory);
  return memory;
}

void BlockMemoryPool::Return(BlockMemory memory) {
  const size_t bytes = BytesOf(memory);
  MutexLock lock(mutex_);
  if (bytes == 0 || free_bytes_ + bytes > kMaxFreeBytes) return;
  free_bytes_ += bytes;
  free_.push_back(std::move(memory));
}

absl::Status ReadPush(grpc::ByteBuffer& bytes, PushMessages& messages) {
  PushedBlocks blocks(messages);
  return ReadBlocks(bytes, v1::PushRequest::kGradientsFieldNumber,
                    messages.request, blocks);
}

}  // namespace paceline
