#include "worker/collective/shared_memory_transport.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/shared_memory/copy_out.h"
#include "common/shared_memory/futex_event.h"
#include "worker/collective/blamed_rank.h"

namespace paceline {
namespace {

// "paceline", and the version of this layout in the last byte.
constexpr uint64_t kRegionMagic = 0x706163656c696e05;
constexpr size_t kPageSize = 4096;
// Pieces that may be under way from one rank to another.
constexpr uint32_t kEntries = 2;
// Bytes of a staged piece. Small enough that both pieces of the staging area
// stay in a cache.
constexpr size_t kStagedBytes = 128 << 10;
// Messages up to this size are copied even if they are in the payload, so that
// the sender need not wait until they are read.
constexpr size_t kCopiedBytes = 8 << 10;
constexpr size_t kMaxReasonBytes = 1024;

static_assert(std::atomic<uint32_t>::is_always_lock_free);

// The core on which this thread runs, plus 1; 0: unknown.
uint32_t ThisCore() { return static_cast<uint32_t>(sched_getcpu() + 1); }

}  // namespace

struct alignas(8) SharedMemoryTransport::Reason {
  int32_t code;
  // The blamed rank; see BlamedRank.
  int32_t blamed;
  char message[kMaxReasonBytes];
};

// Padded, so that different ranks write to different cache lines.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct SharedMemoryTransport::Header {
  std::atomic<uint64_t> magic;
  std::atomic<uint32_t> rank;
  std::atomic<uint32_t> world_size;
  // A futex event that peers signal for each event that concerns this rank.
  alignas(64) FutexEvent event;
  // The rank that this rank waits for, plus 1; 0: none.
  std::atomic<uint32_t> waits_for;
  // The core on which this rank ran when it last exchanged or waited, plus 1;
  // 0: unknown.
  std::atomic<uint32_t> core;
  // 0: not aborted, 1: `reason` is being written, 2: aborted.
  alignas(64) std::atomic<uint32_t> aborted;
  Reason reason;
};

struct SharedMemoryTransport::Mailbox {
  struct alignas(8) Entry {
    // Offset of the piece in the region, and size of the whole message. Each
    // piece begins at a multiple of kPieceAlignment, both in memory and in the
    // message.
    uint64_t offset;
    uint64_t size;
    uint64_t message_size;
  };
  // Pieces sent and pieces taken since the start; both wrap around. Each is
  // written for the other side to read; the writer keeps its own count, since
  // the other side could change this one.
  alignas(64) std::atomic<uint32_t> sent;
  Entry entries[kEntries];
  alignas(64) std::atomic<uint32_t> taken;
};

struct SharedMemoryTransport::Layout {
  explicit Layout(int world_size) {
    const size_t end = sizeof(Header) + sizeof(Mailbox) * world_size;
    staging = (end + kPageSize - 1) / kPageSize * kPageSize;
    payload = staging + world_size * kEntries * kStagedBytes;
  }
  // Offset of an entry in the staging area for `peer`.
  size_t StagedPiece(int peer, uint32_t entry) const {
    return staging + (peer * kEntries + entry) * kStagedBytes;
  }
  size_t staging;
  size_t payload;
};

struct SharedMemoryTransport::Outgoing {
  int to;
  absl::Span<const std::byte> message;
  size_t done = 0;
  // Whether the receiver reads a piece where it lies in the payload.
  bool is_lent = false;
  bool is_taken = false;
};

struct SharedMemoryTransport::Incoming {
  int from;
  size_t size;
  size_t done = 0;
};

absl::StatusOr<SharedMemoryTransport::RegionPtr>
SharedMemoryTransport::MakeRegion(int rank, int world_size,
                                  size_t payload_size) {
  ASSIGN_OR_RETURN(
      SharedRegion region,
      SharedRegion::Create(Layout(world_size).payload + payload_size));
  std::byte* memory = region.memory().data();
  Header* header = new (memory) Header();
  header->rank = static_cast<uint32_t>(rank);
  header->world_size = static_cast<uint32_t>(world_size);
  for (int peer = 0; peer < world_size; ++peer) {
    new (memory + sizeof(Header) + sizeof(Mailbox) * peer) Mailbox();
  }
  header->magic = kRegionMagic;
  return std::make_shared<const SharedRegion>(std::move(region));
}

absl::Span<std::byte> SharedMemoryTransport::PayloadOf(
    const SharedRegion& region, int world_size) {
  return region.memory().subspan(Layout(world_size).payload);
}

absl::StatusOr<std::unique_ptr<SharedMemoryTransport>>
SharedMemoryTransport::Create(SharedMemoryOptions options,
                              std::vector<RegionPtr> regions) {
  std::unique_ptr<SharedMemoryTransport> transport(
      new SharedMemoryTransport(std::move(options), std::move(regions)));
  const int world_size = transport->world_size();
  for (int rank = 0; rank < world_size; ++rank) {
    const size_t size = transport->regions_[rank]->memory().size();
    const Header& header = transport->header(rank);
    if (size < Layout(world_size).payload || header.magic != kRegionMagic ||
        header.rank != static_cast<uint32_t>(rank) ||
        header.world_size != static_cast<uint32_t>(world_size)) {
      return absl::InvalidArgumentError(
          absl::StrCat("shared memory of ", transport->NameOf(rank),
                       ": expected rank ", rank, " of ", world_size));
    }
  }
  return transport;
}

SharedMemoryTransport::SharedMemoryTransport(SharedMemoryOptions options,
                                             std::vector<RegionPtr> regions)
    : options_(std::move(options)),
      regions_(std::move(regions)),
      sent_(regions_.size()),
      taken_(regions_.size()) {}

SharedMemoryTransport::~SharedMemoryTransport() = default;

SharedMemoryTransport::Header& SharedMemoryTransport::header(int rank) const {
  return *reinterpret_cast<Header*>(regions_[rank]->memory().data());
}

SharedMemoryTransport::Mailbox& SharedMemoryTransport::mailbox(int rank,
                                                               int peer) const {
  return *reinterpret_cast<Mailbox*>(regions_[rank]->memory().data() +
                                     sizeof(Header) + sizeof(Mailbox) * peer);
}

absl::Status SharedMemoryTransport::Exchange(int to,
                                             absl::Span<const std::byte> out,
                                             int from, size_t in_size,
                                             Sink sink) {
  Outgoing outgoing{to, out};
  outgoing.is_taken = out.empty();
  Incoming incoming{from, in_size};
  header(rank()).core = ThisCore();
  absl::Time deadline = MonotonicNow() + options_.timeout;
  while (true) {
    // Read the count before looking for events, so that none is missed.
    const uint32_t signals = header(rank()).event.signals();
    RETURN_IF_ERROR(Aborted());
    ASSIGN_OR_RETURN(const bool pushed, Push(outgoing));
    ASSIGN_OR_RETURN(const bool pulled, Pull(incoming, sink));
    const bool is_complete = incoming.done == incoming.size;
    if (outgoing.is_taken && is_complete) {
      header(rank()).waits_for = 0;
      return absl::OkStatus();
    }
    if (pushed || pulled) {
      deadline = MonotonicNow() + options_.timeout;
      continue;
    }
    const int other = is_complete ? to : from;
    header(rank()).waits_for = other + 1;
    if (MonotonicNow() >= deadline) return TimedOut(other);
    // If both are on one core, the other cannot go on while this one spins.
    const uint32_t core = ThisCore();
    header(rank()).core = core;
    const bool share_core = core != 0 && header(other).core == core;
    header(rank()).event.Wait(
        signals, deadline, share_core ? absl::ZeroDuration() : options_.spin);
  }
}

absl::StatusOr<uint32_t> SharedMemoryTransport::UnderWay(int peer,
                                                         uint32_t sent,
                                                         uint32_t taken) const {
  const uint32_t under_way = sent - taken;
  if (under_way <= kEntries) return under_way;
  return WithBlamedRank(
      peer, absl::FailedPreconditionError(absl::StrCat(
                "shared memory of ", NameOf(peer), ": ", under_way,
                " pieces are under way, expected at most ", kEntries)));
}

bool SharedMemoryTransport::CanLend(const std::byte* piece, size_t size) const {
  const absl::Span<std::byte> own = payload();
  return std::less_equal<>()(own.data(), piece) &&
         std::less_equal<>()(piece + size, own.data() + own.size()) &&
         (piece - own.data()) % kPieceAlignment == 0;
}

absl::StatusOr<bool> SharedMemoryTransport::Push(Outgoing& outgoing) {
  if (outgoing.is_taken) return false;
  Mailbox& box = mailbox(rank(), outgoing.to);
  uint32_t& sent = sent_[outgoing.to];
  ASSIGN_OR_RETURN(
      const uint32_t under_way,
      UnderWay(outgoing.to, sent, box.taken.load(std::memory_order_acquire)));
  const size_t left = outgoing.message.size() - outgoing.done;
  if (left == 0) {
    outgoing.is_taken = !outgoing.is_lent || under_way == 0;
    return outgoing.is_taken;
  }
  if (under_way == kEntries) return false;
  Mailbox::Entry entry;
  entry.message_size = outgoing.message.size();
  entry.size = left;
  const std::byte* piece = outgoing.message.data() + outgoing.done;
  if (left > kCopiedBytes && CanLend(piece, left)) {
    outgoing.is_lent = true;
    entry.offset = piece - regions_[rank()]->memory().data();
  } else {
    entry.size = std::min(left, kStagedBytes);
    entry.offset =
        Layout(world_size()).StagedPiece(outgoing.to, sent % kEntries);
    std::memcpy(regions_[rank()]->memory().data() + entry.offset, piece,
                entry.size);
  }
  outgoing.done += entry.size;
  box.entries[sent % kEntries] = entry;
  box.sent.store(++sent, std::memory_order_release);
  header(outgoing.to).event.Signal();
  return true;
}

absl::StatusOr<bool> SharedMemoryTransport::Pull(Incoming& incoming,
                                                 Sink sink) {
  if (incoming.done == incoming.size) return false;
  Mailbox& box = mailbox(incoming.from, rank());
  uint32_t& taken = taken_[incoming.from];
  ASSIGN_OR_RETURN(
      const uint32_t under_way,
      UnderWay(incoming.from, box.sent.load(std::memory_order_acquire), taken));
  if (under_way == 0) return false;
  const auto entry = CopyOut<Mailbox::Entry>(&box.entries[taken % kEntries]);
  const absl::Span<const std::byte> memory = regions_[incoming.from]->memory();
  if (entry.message_size != incoming.size) {
    return WithBlamedRank(
        incoming.from,
        absl::FailedPreconditionError(absl::StrCat(
            NameOf(incoming.from), " sent ", entry.message_size, " bytes to ",
            NameOf(rank()), ", which expects ", incoming.size)));
  }
  const size_t left = incoming.size - incoming.done;
  const bool is_cut_well =
      entry.size == left || (entry.size < left && entry.size > 0 &&
                             entry.size % kPieceAlignment == 0);
  if (!is_cut_well || entry.offset % kPieceAlignment != 0 ||
      entry.offset > memory.size() ||
      entry.size > memory.size() - entry.offset) {
    return WithBlamedRank(
        incoming.from,
        absl::FailedPreconditionError(absl::StrCat(
            NameOf(incoming.from), " sent ", entry.size, " bytes at ",
            entry.offset, " of its shared memory to ", NameOf(rank()),
            ", which expects ", left, " more within ", memory.size())));
  }
  sink(incoming.done, memory.subspan(entry.offset, entry.size));
  incoming.done += entry.size;
  box.taken.store(++taken, std::memory_order_release);
  header(incoming.from).event.Signal();
  return true;
}

void SharedMemoryTransport::Abort(const absl::Status& reason) {
  if (!Aborted().ok()) return;
  Header& own = header(rank());
  uint32_t not_aborted = 0;
  if (!own.aborted.compare_exchange_strong(not_aborted, 1)) return;
  own.reason.code = static_cast<int32_t>(reason.code());
  own.reason.blamed = BlamedRank(reason);
  const size_t size = std::min(reason.message().size(), kMaxReasonBytes - 1);
  std::memcpy(own.reason.message, reason.message().data(), size);
  own.aborted.store(2, std::memory_order_release);
  for (int peer = 0; peer < world_size(); ++peer) header(peer).event.Signal();
}

absl::Status SharedMemoryTransport::Aborted() const {
  for (int peer = 0; peer < world_size(); ++peer) {
    const Header& other = header(peer);
    if (other.aborted.load(std::memory_order_acquire) != 2) continue;
    const auto reason = CopyOut<Reason>(&other.reason);
    const auto code = static_cast<absl::StatusCode>(reason.code);
    return WithBlamedRank(
        reason.blamed < world_size() ? reason.blamed : -1,
        {code == absl::StatusCode::kOk ? absl::StatusCode::kUnknown : code,
         std::string(reason.message,
                     strnlen(reason.message, kMaxReasonBytes))});
  }
  return absl::OkStatus();
}

absl::Status SharedMemoryTransport::TimedOut(int other) const {
  RETURN_IF_ERROR(Aborted());
  // Follow the chain of ranks that wait for each other to its end. A rank that
  // timed out still counts as waiting.
  for (int i = 0; i < world_size(); ++i) {
    const uint32_t next = header(other).waits_for;
    if (next == 0 || next > static_cast<uint32_t>(world_size())) break;
    other = static_cast<int>(next) - 1;
  }
  return WithBlamedRank(other, absl::DeadlineExceededError(absl::StrCat(
                                   NameOf(other), " did not come within ",
                                   absl::FormatDuration(options_.timeout))));
}

}  // namespace paceline
