#include "ps_server/grpc_messages.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Bytes of memory that the pool keeps, at most; more is freed.
constexpr size_t kMaxFreeBytes = size_t{256} << 20;

size_t BytesOf(const BlockMemory& memory) {
  size_t bytes = memory.capacity() * sizeof(BlockMemory::value_type);
  for (const std::vector<std::byte>& values : memory) {
    bytes += values.capacity();
  }
  return bytes;
}

// Receives the gradients of a push as its message is parsed.
class PushedBlocks final : public BlockReceiver {
 public:
  PushedBlocks(BlockSizes block_sizes, PushMessages& messages)
      : block_sizes_(block_sizes), messages_(messages) {}

  absl::Status Expect(size_t block_count) override {
    const v1::PushRequest& request = messages_.request;
    ASSIGN_OR_RETURN(sizes_, block_sizes_(request));
    if (block_count > sizes_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a push has gradients of ", block_count, " blocks; chunk ",
          request.chunk(), " has ", sizes_.size(), " blocks"));
    }
    messages_.gradients.reserve(block_count);
    return absl::OkStatus();
  }

  v1::Block* Begin() override {
    block_.Clear();
    values_ = {};
    return &block_;
  }

  absl::StatusOr<absl::Span<std::byte>> BufferFor(const v1::Block& /*block*/,
                                                  size_t size) override {
    values_ = MemoryOf(messages_.gradients.size(), size, messages_.memory);
    return values_;
  }

  absl::Status End(const v1::Block& block) override {
    if (block.has_rows()) {
      return absl::UnimplementedError(
          absl::StrCat("gradients of block ", block.index(),
                       ": rows are not supported yet"));
    }
    if (!block.has_dense()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "gradients of block ", block.index(), ": there are no elements"));
    }
    messages_.gradients.push_back({block.index(), block.dtype(),
                                   block.version(), values_,
                                   block.dense().offset()});
    return absl::OkStatus();
  }

  // Bytes of the variables of each block of the chunk; empty until they are
  // known.
  absl::Span<const size_t> sizes() const { return sizes_; }

 private:
  const BlockSizes block_sizes_;
  PushMessages& messages_;
  absl::Span<const size_t> sizes_;
  // The block that is being parsed.
  v1::Block block_;
  absl::Span<std::byte> values_;
};

}  // namespace

absl::Span<std::byte> MemoryOf(size_t index, size_t size, BlockMemory& memory) {
  memory.resize(std::max(memory.size(), index + 1));
  // A block has the same size in each step, so resize normally does nothing.
  memory[index].resize(size);
  return absl::MakeSpan(memory[index]);
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

absl::Status ReadPush(grpc::ByteBuffer& bytes, BlockSizes block_sizes,
                      PushMessages& messages) {
  PushedBlocks blocks(block_sizes, messages);
  RETURN_IF_ERROR(ReadBlocks(bytes, v1::PushRequest::kGradientsFieldNumber,
                             messages.request, blocks));
  if (messages.request.pull()) messages.MakeBuffers(blocks.sizes());
  return absl::OkStatus();
}

}  // namespace paceline
