// A mailbox: shared memory by which a process calls another process on the same
// machine. It replaces gRPC for calls with large values, which would be copied
// through sockets otherwise.
//
// The caller creates the memory; it holds one call at a time:
//
//   header | request | answer | values
//
// One call goes as follows:
//  1. The caller copies the values of blocks into `values`, writes the message
//     and the blocks' offsets into `request`, and posts the request: it writes
//     a new number into the header and signals the callee's futex event.
//  2. The callee reads the request, and works on the values in place.
//  3. The callee writes the values of its answer over those of the request, the
//     message into `answer`, and posts the answer under the same number.
//  4. The caller reads the answer.
//
// Invariants:
//  * The sides take turns: a side writes a part only while the other side does
//    not use it, from its turn to its post.
//  * A post makes everything visible that was written before (release), to a
//    side that reads its number (acquire).
//  * Neither side trusts the other. It copies messages and descriptions of
//    blocks before it checks them, since the peer may change them meanwhile.
//    Checked are sizes, that blocks are within the values, and their alignment.
//    Values are used in place; their numbers may be anything. A corrupted futex
//    event delays a wake-up by limits::kFutexSleep, no more.
//
// The scheme resembles the argument stacks of local RPC systems (Bershad et
// al., "Lightweight Remote Procedure Call", 1990): arguments are copied once,
// into memory that both sides share.
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

// The code of a request. The code of an answer is an absl::StatusCode.
enum class MailboxMethod : uint32_t { kPush = 1, kApply = 2, kPull = 3 };

// A request or an answer, after reading.
struct MailboxMessage {
  uint32_t code = 0;
  // A serialised message, or the reason of a failure.
  std::string content;
  // The blocks; their values are in the mailbox.
  std::vector<DenseValues> blocks;
};

// Not thread-safe, except the futex events.
class CallMailbox {
 public:
  enum Way { kRequest, kAnswer };

  // Creates a mailbox with `values_size` bytes for values. Errors: see
  // SharedRegion::Create.
  static absl::StatusOr<CallMailbox> Create(size_t values_size, uint64_t token);
  // Opens a caller's mailbox. InvalidArgument if the memory is no mailbox with
  // this token; other errors: see SharedRegion::Open.
  static absl::StatusOr<CallMailbox> Open(const RegionReference& reference,
                                          uint64_t token);

  absl::StatusOr<RegionReference> reference() const {
    return region_.reference();
  }

  absl::Span<std::byte> values() const;
  // The offset of a block of `size` bytes after `end` bytes of values.
  static size_t NextBlock(size_t end);

  // Whether the callee has started to serve the mailbox.
  bool is_served() const;
  void BeginToServe();

  // Writes a message whose blocks are in values(). False if it is too large.
  bool Write(Way way, uint32_t code, absl::string_view content,
             absl::Span<const DenseValues> blocks);
  // Posts the written message under `number`, which must not be used twice.
  void Post(Way way, uint32_t number);
  // The last number that was posted; 0 if none.
  uint32_t posted(Way way) const;
  // Reads the posted message. InvalidArgument if it is malformed.
  absl::Status Read(Way way, MailboxMessage& message) const;

  // The futex event of a direction; signalled by each post.
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
