// A mailbox: memory through which one process calls another one of the same
// machine.
//
// It is the caller's, and holds one call at a time:
//
//   header | request | answer | values
//
// The caller copies the values of blocks into the last part, describes them and
// the message in the request, and posts it; the callee works on the values
// where they lie, puts those of its answer into their place, and posts the
// answer. Each side sleeps on an event of its own.
//
// Neither side trusts the other. What is read here is copied first, since the
// peer may change it meanwhile, and checked: blocks lie within the values, and
// are aligned. The numbers in them may be any.
#ifndef PACELINE_COMMON_RPC_CALL_MAILBOX_H_
#define PACELINE_COMMON_RPC_CALL_MAILBOX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/rpc/dense_values.h"
#include "common/shared_memory/futex_event.h"
#include "common/shared_memory/shared_region.h"

namespace paceline {

// The code of a request; that of an answer is an absl::StatusCode.
enum class MailboxMethod : uint32_t { kPush = 1, kApply = 2, kPull = 3 };

// A request or an answer as it was read.
struct MailboxMessage {
  uint32_t code = 0;
  // A serialised message; of a failure, its reason.
  std::string content;
  // Their values lie in the mailbox.
  std::vector<DenseValues> blocks;
};

// Not thread-safe but for the events; a side writes what it posts, and reads
// what the other one posted, in turn.
class CallMailbox {
 public:
  enum Way { kRequest, kAnswer };

  // Makes a mailbox with room for so many bytes of values. Errors as of
  // SharedRegion::Create.
  static absl::StatusOr<CallMailbox> Create(size_t values_size, uint64_t token);
  // Opens a mailbox that a caller refers to. InvalidArgument if there is none
  // with this token; errors of SharedRegion::Open.
  static absl::StatusOr<CallMailbox> Open(const RegionReference& reference,
                                          uint64_t token);

  absl::StatusOr<RegionReference> reference() const {
    return region_.reference();
  }

  absl::Span<std::byte> values() const;
  // Where a block of `size` bytes begins that follows `end` bytes of values.
  static size_t NextBlock(size_t end);

  // Whether the callee has begun to serve it.
  bool is_served() const;
  void BeginToServe();

  // Writes a message whose blocks lie in values(); false if there is no room
  // for it.
  bool Write(Way way, uint32_t code, absl::string_view content,
             absl::Span<const DenseValues> blocks);
  // Posts what was written as number `number`, never twice the same.
  void Post(Way way, uint32_t number);
  // The number that was posted last; 0 at first.
  uint32_t posted(Way way) const;
  // Reads what was posted. InvalidArgument if it is no message.
  absl::Status Read(Way way, MailboxMessage& message) const;

  // Signalled with each post.
  FutexEvent& event(Way way) const;

 private:
  struct Header;

  explicit CallMailbox(SharedRegion region) : region_(std::move(region)) {}

  Header& header() const;
  absl::Span<std::byte> message(Way way) const;

  SharedRegion region_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CALL_MAILBOX_H_
