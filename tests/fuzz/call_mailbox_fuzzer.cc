// A request in memory that a caller shares.
#include <glog/logging.h>

#include <algorithm>
#include <cstring>

#include "common/rpc/call_mailbox.h"
#include "paceline/v1/ps.pb.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

// Of the layout: where the request lies, and its size.
constexpr size_t kRequest = 4096;
constexpr size_t kRequestBytes = 128 << 10;
constexpr size_t kValuesBytes = 4096;

// The mailbox, and its memory as the caller has it.
struct Memory {
  static Memory& Get() {
    static Memory& memory = *new Memory();
    return memory;
  }

  CallMailbox mailbox = *CallMailbox::Create(kValuesBytes, /*token=*/1);
  SharedRegion region = *SharedRegion::Open(*mailbox.reference());
};

}  // namespace

void Fuzz(FuzzInput input) {
  const CallMailbox& mailbox = Memory::Get().mailbox;
  std::byte* request = Memory::Get().region.memory().data() + kRequest;
  const size_t size = std::min(input.rest().size(), kRequestBytes);
  std::memcpy(request, input.rest().data(), size);
  // Nothing is left of the input before.
  std::memset(request + size, 0, std::min<size_t>(kRequestBytes - size, 8192));

  MailboxMessage message;
  if (!mailbox.Read(CallMailbox::kRequest, message).ok()) return;
  v1::PushRequest().ParseFromString(message.content);
  const absl::Span<const std::byte> values = mailbox.values();
  for (const DenseValues& block : message.blocks) {
    CHECK(v1::DataType_IsValid(block.dtype));
    CHECK(values.data() <= block.values.data() &&
          block.values.data() + block.values.size() <=
              values.data() + values.size());
  }
}

}  // namespace paceline
