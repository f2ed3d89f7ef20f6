#include "common/rpc/call_mailbox.h"

#include <atomic>
#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/shared_memory/copy_out.h"

namespace paceline {
namespace {

// "pacecall" with the version of this layout in the last byte.
constexpr uint64_t kMagic = 0x7061636563616c01;
constexpr size_t kPageSize = 4096;
// Maximum size of a message without values. Far more than normal; a message
// with the norms of a model with thousands of variables needs it.
constexpr size_t kMessageBytes = 128 << 10;
constexpr size_t kValuesOffset = kPageSize + 2 * kMessageBytes;
// Blocks begin at cache lines.
constexpr size_t kAlignment = 64;

// A message in shared memory: this header, the content, then the blocks'
// descriptions from the next multiple of 8 on.
struct Frame {
  uint32_t code;
  uint32_t content_size;
  uint64_t block_count;
};
struct FrameBlock {
  uint32_t index;
  uint32_t dtype;
  uint64_t version;
  uint64_t offset;
  // Offset of the values in the mailbox's values.
  uint64_t begin;
  uint64_t size;
};

constexpr size_t BlocksOffset(size_t content_size) {
  return (sizeof(Frame) + content_size + 7) / 8 * 8;
}

absl::Status MalformedCall(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the call in shared memory cannot be read: ", what));
}

}  // namespace

// Padded, so that the two sides write to different cache lines.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct CallMailbox::Header {
  struct alignas(64) Posts {
    std::atomic<uint32_t> last;
    FutexEvent event;
  };
  std::atomic<uint64_t> magic;
  std::atomic<uint64_t> token;
  std::atomic<uint32_t> is_served;
  // By Way.
  Posts posts[2];
};

absl::StatusOr<CallMailbox> CallMailbox::Create(size_t values_size,
                                                uint64_t token) {
  ASSIGN_OR_RETURN(SharedRegion region,
                   SharedRegion::Create(kValuesOffset + values_size));
  static_assert(sizeof(Header) <= kPageSize);
  Header* header = new (region.memory().data()) Header();
  header->magic = kMagic;
  header->token = token;
  return CallMailbox(std::move(region));
}

absl::StatusOr<CallMailbox> CallMailbox::Open(const RegionReference& reference,
                                              uint64_t token) {
  ASSIGN_OR_RETURN(SharedRegion region, SharedRegion::Open(reference));
  CallMailbox mailbox(std::move(region));
  if (mailbox.region_.memory().size() < kValuesOffset ||
      mailbox.header().magic != kMagic || mailbox.header().token != token) {
    return absl::InvalidArgumentError(
        "the shared memory is not the caller's, or of another version");
  }
  return mailbox;
}

CallMailbox::Header& CallMailbox::header() const {
  return *reinterpret_cast<Header*>(region_.memory().data());
}

absl::Span<std::byte> CallMailbox::message(Way way) const {
  return region_.memory().subspan(kPageSize + way * kMessageBytes,
                                  kMessageBytes);
}

absl::Span<std::byte> CallMailbox::values() const {
  return region_.memory().subspan(kValuesOffset);
}

size_t CallMailbox::NextBlock(size_t end) {
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

bool CallMailbox::is_served() const { return header().is_served.load() != 0; }

void CallMailbox::BeginToServe() {
  header().is_served = 1;
  event(kAnswer).Signal();
}

bool CallMailbox::Write(Way way, uint32_t code, absl::string_view content,
                        absl::Span<const DenseValues> blocks) {
  const absl::Span<std::byte> memory = message(way);
  if (content.size() > memory.size() ||
      BlocksOffset(content.size()) + blocks.size() * sizeof(FrameBlock) >
          memory.size()) {
    return false;
  }
  const Frame frame = {code, static_cast<uint32_t>(content.size()),
                       blocks.size()};
  std::memcpy(memory.data(), &frame, sizeof(frame));
  std::memcpy(memory.data() + sizeof(frame), content.data(), content.size());
  std::byte* end = memory.data() + BlocksOffset(content.size());
  for (const DenseValues& block : blocks) {
    const FrameBlock written = {
        block.index,
        static_cast<uint32_t>(block.dtype),
        block.version,
        block.offset,
        static_cast<uint64_t>(block.values.data() - values().data()),
        block.values.size()};
    std::memcpy(end, &written, sizeof(written));
    end += sizeof(written);
  }
  return true;
}

void CallMailbox::Post(Way way, uint32_t number) {
  header().posts[way].last.store(number, std::memory_order_release);
  event(way).Signal();
}

uint32_t CallMailbox::posted(Way way) const {
  return header().posts[way].last.load(std::memory_order_acquire);
}

absl::Status CallMailbox::Read(Way way, MailboxMessage& message) const {
  const absl::Span<const std::byte> memory = this->message(way);
  const Frame frame = CopyOut<Frame>(memory.data());
  if (frame.content_size > memory.size() ||
      BlocksOffset(frame.content_size) > memory.size()) {
    return MalformedCall("its size");
  }
  const std::byte* next = memory.data() + BlocksOffset(frame.content_size);
  if (frame.block_count >
      (memory.size() - BlocksOffset(frame.content_size)) / sizeof(FrameBlock)) {
    return MalformedCall("its number of blocks");
  }
  message.code = frame.code;
  message.content.resize(frame.content_size);
  CopyOut(memory.data() + sizeof(frame), message.content.data(),
          message.content.size());
  message.blocks.clear();
  for (uint64_t i = 0; i < frame.block_count; ++i, next += sizeof(FrameBlock)) {
    const FrameBlock block = CopyOut<FrameBlock>(next);
    if (block.begin > values().size() ||
        block.size > values().size() - block.begin ||
        block.begin % kAlignment != 0 || !v1::DataType_IsValid(block.dtype)) {
      return MalformedCall(absl::StrCat("block ", block.index));
    }
    message.blocks.push_back(
        {block.index, static_cast<v1::DataType>(block.dtype), block.version,
         values().subspan(block.begin, block.size), block.offset});
  }
  return absl::OkStatus();
}

FutexEvent& CallMailbox::event(Way way) const {
  return header().posts[way].event;
}

}  // namespace paceline
