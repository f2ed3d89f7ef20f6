// All-reduce and its relatives over a transport.
//
// n bytes on P ranks; a step is one exchange of every rank with a neighbour.
//
//   ring      reduce-scatter, then all-gather. The values are cut into P
//             segments. In step s of the first half rank r sends segment r-s-1
//             to rank r+1 and adds its own values to segment r-s-2, which comes
//             from rank r-1; after P-1 steps segment r is complete at rank r.
//             The second half sends the complete segments around the same way.
//             2(P-1) steps, 2n(P-1)/P bytes sent by each rank: no algorithm
//             sends less (Patarasuk and Yuan, "Bandwidth optimal all-reduce
//             algorithms for clusters of workstations", 2009).
//   direct    Everybody sends all to everybody, and adds up by itself, in rank
//             order. P-1 steps that do not wait for each other, (P-1)n bytes
//             sent by each rank: the least latency, for small messages.
//
// The order in which values are added depends on P and the number of values
// alone: from rank 0 up (direct), or from the rank behind a segment's owner
// around to the owner (ring). So a repeat gives the same bits, and all ranks
// get the same ones.
#ifndef PACELINE_WORKER_COLLECTIVE_COLLECTIVES_H_
#define PACELINE_WORKER_COLLECTIVE_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/collective/transport.h"

namespace paceline {

enum class ReduceOp { kSum, kMean };

// How float32 values travel. The halved ones are added in float32; each
// exchange rounds once.
enum class WireType { kNative, kFloat16, kBFloat16 };

// A stretch of elements.
struct Segment {
  int64_t begin = 0;
  int64_t size = 0;
};

// The segment of `count` elements that belongs to `rank`: as equal as multiples
// of 16 elements allow, so that no two ranks write to one cache line.
Segment SegmentOf(int64_t count, int rank, int world_size);

// One rank's end of a group. All ranks must call the same functions with the
// same sizes in the same order. Errors are the transport's. Not thread-safe.
// A call allocates only if no call before was as large.
class Collectives {
 public:
  // `transport` outlives the collectives.
  explicit Collectives(Transport& transport) : transport_(transport) {}

  int rank() const { return transport_.rank(); }
  int world_size() const { return transport_.world_size(); }

  // Replaces `values` by their sum or mean over all ranks. Picks the algorithm
  // by size. T is float, double or MomentsBlock, which has a sum alone; only
  // floats may be converted on their way.
  template <typename T>
  absl::Status AllReduce(absl::Span<T> values, ReduceOp op,
                         WireType wire = WireType::kNative);

  // The first half of a ring: this rank's segment of `values` is reduced, the
  // others are left in between.
  template <typename T>
  absl::Status ReduceScatter(absl::Span<T> values, ReduceOp op,
                             WireType wire = WireType::kNative);

  // The second half: each rank's segment of `values` goes to all.
  template <typename T>
  absl::Status AllGather(absl::Span<T> values,
                         WireType wire = WireType::kNative);

  // Replaces `data` by that of rank `root`, in pieces that follow each other
  // along a chain of all ranks: n bytes on each link, P-1 pieces of delay.
  absl::Status Broadcast(absl::Span<std::byte> data, int root);

  // Returns when all ranks have called it: ⌈log2 P⌉ rounds, in round k with the
  // ranks 2^k away (Hensgen, Finkel and Manber, 1988).
  absl::Status Barrier();

 private:
  // The rank `distance` further around the ring.
  int Around(int distance) const;
  template <typename T>
  absl::Status AllReduceDirect(absl::Span<T> values, ReduceOp op);
  // Memory of at least `size` bytes, kept from call to call.
  std::byte* Scratch(size_t size);

  Transport& transport_;
  std::vector<std::byte> scratch_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_COLLECTIVES_H_
