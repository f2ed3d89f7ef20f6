// A group whose ranks are processes of one machine: payloads and their signals
// go through shared memory, no socket is in between.
//
// Each rank makes one region, which all others map:
//
//   header | mailboxes, one to each rank | staging, the same | payload
//
// A sender describes its message in its mailbox to the receiver and signals the
// receiver's event, a futex in the receiver's header; the receiver reads the
// sender's memory, says in the mailbox that it has taken it, and signals back.
// What lies in the sender's payload, at a multiple of kPieceAlignment, is not
// copied at all, and the sender waits until it was read; other memory, and
// short messages, go through the staging area of the receiver's mailbox in
// pieces, two of them under way at a time.
//
// A rank does not trust what the others can write: it copies the description of
// a piece before it checks it, and keeps its own counts. A peer can spoil the
// values it sends, and end the group; an event that it spoils costs
// limits::kFutexSleep.
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
  // How long a rank waits for another one that does nothing.
  absl::Duration timeout;
  // How long it looks again and again before it sleeps; zero where threads
  // outnumber cores.
  absl::Duration spin;
};

class SharedMemoryTransport : public Transport {
 public:
  using RegionPtr = std::shared_ptr<const SharedRegion>;

  // Makes a rank's region, with so many bytes of payload.
  static absl::StatusOr<RegionPtr> MakeRegion(int rank, int world_size,
                                              size_t payload_size);
  // The memory of a rank's own region from which messages are sent without a
  // copy; aligned to pages.
  static absl::Span<std::byte> PayloadOf(const SharedRegion& region,
                                         int world_size);

  // `regions` by rank. InvalidArgument names the rank whose region does not
  // belong to such a group.
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
  // From `rank` to `peer`, in the region of `rank`.
  Mailbox& mailbox(int rank, int peer) const;

  // The pieces between this rank and `peer`, one of whose counts the peer told;
  // FailedPrecondition if there cannot be so many.
  absl::StatusOr<uint32_t> UnderWay(int peer, uint32_t sent,
                                    uint32_t taken) const;
  // Whether the peer can read a piece of a message where it lies.
  bool CanLend(const std::byte* piece, size_t size) const;
  // Sends, or takes, what is possible at once; returns whether it did anything.
  absl::StatusOr<bool> Push(Outgoing& outgoing);
  absl::StatusOr<bool> Pull(Incoming& incoming, Sink sink);

  absl::Status Aborted() const;
  absl::Status TimedOut(int other) const;

  const SharedMemoryOptions options_;
  const std::vector<RegionPtr> regions_;
  // Pieces sent to, and taken from, each rank since the start.
  std::vector<uint32_t> sent_;
  std::vector<uint32_t> taken_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_SHARED_MEMORY_TRANSPORT_H_
