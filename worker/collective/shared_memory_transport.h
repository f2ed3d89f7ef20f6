// A group whose ranks are processes on one machine. Payloads and signals go
// through shared memory, without sockets.
//
// Each rank creates one region, which all others map:
//
//   header | a mailbox for each rank | a staging area for each rank | payload
//
// To send a message, a rank describes it in its mailbox for the receiver, and
// signals the futex event in the receiver's header. The receiver reads the
// sender's memory, records in the mailbox that it has taken the message, and
// signals the sender.
//
// A message in the sender's payload, at a multiple of kPieceAlignment, is not
// copied; the sender waits until it was read. Messages from other memory, and
// short messages, are copied in pieces into the sender's staging area for the
// receiver, at most kEntries pieces at a time.
//
// A rank does not trust memory that others can write: it copies the description
// of a piece before it checks it, and keeps its own counts. A malicious peer
// can corrupt the values it sends, and can end the group. If it corrupts a
// futex event, a wake-up is lost, which costs limits::kFutexSleep.
#ifndef PACELINE_WORKER_COLLECTIVE_SHARED_MEMORY_TRANSPORT_H_
#define PACELINE_WORKER_COLLECTIVE_SHARED_MEMORY_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/shared_memory/shared_region.h"
#include "worker/collective/transport.h"

namespace paceline {

struct SharedMemoryOptions {
  int rank = 0;
  // By rank, for errors: "worker-2 at 10.0.0.3:2222".
  std::vector<std::string> names;
  // How long a rank waits for another rank that makes no progress.
  absl::Duration timeout;
  // How long a rank spins before it sleeps; zero if there are more threads than
  // cores. It does not spin if the rank for which it waits was on its core when
  // it last exchanged or waited.
  absl::Duration spin;
};

class SharedMemoryTransport : public Transport {
 public:
  using RegionPtr = std::shared_ptr<const SharedRegion>;

  // Creates a rank's region with `payload_size` bytes of payload.
  static absl::StatusOr<RegionPtr> MakeRegion(int rank, int world_size,
                                              size_t payload_size);
  // The payload of a rank's own region: messages in this memory are sent
  // without a copy. Page-aligned.
  static absl::Span<std::byte> PayloadOf(const SharedRegion& region,
                                         int world_size);

  // `regions`: by rank. InvalidArgument names the rank whose region does not
  // fit this group.
  static absl::StatusOr<std::unique_ptr<SharedMemoryTransport>> Create(
      SharedMemoryOptions options, std::vector<RegionPtr> regions);
  ~SharedMemoryTransport() override;

  absl::Span<std::byte> payload() const {
    return PayloadOf(*regions_[rank()], world_size());
  }

  int rank() const override { return options_.rank; }
  int world_size() const override { return static_cast<int>(regions_.size()); }
  std::string NameOf(int rank) const override { return options_.names[rank]; }
  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override;
  void Abort(const absl::Status& reason) override;

 private:
  struct Reason;
  struct Header;
  struct Mailbox;
  struct Layout;
  struct Outgoing;
  struct Incoming;

  SharedMemoryTransport(SharedMemoryOptions options,
                        std::vector<RegionPtr> regions);

  Header& header(int rank) const;
  // The mailbox from `rank` to `peer`, in the region of `rank`.
  Mailbox& mailbox(int rank, int peer) const;

  // The number of pieces between this rank and `peer`, one of whose counts
  // comes from the peer; FailedPrecondition if the number is impossible.
  absl::StatusOr<uint32_t> UnderWay(int peer, uint32_t sent,
                                    uint32_t taken) const;
  // Whether the peer can read the piece in place, without a copy.
  bool CanLend(const std::byte* piece, size_t size) const;
  // Sends, or receives, as much as is possible without waiting. Returns whether
  // there was any progress.
  absl::StatusOr<bool> Push(Outgoing& outgoing);
  absl::StatusOr<bool> Pull(Incoming& incoming, Sink sink);

  absl::Status Aborted() const;
  absl::Status TimedOut(int other) const;

  const SharedMemoryOptions options_;
  const std::vector<RegionPtr> regions_;
  // By rank: pieces sent to it, and pieces taken from it, since the start.
  std::vector<uint32_t> sent_;
  std::vector<uint32_t> taken_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_SHARED_MEMORY_TRANSPORT_H_
