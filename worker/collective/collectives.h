// All-reduce and other collectives over a Transport.
//
// Costs are for n bytes on P ranks; in a "step" every rank exchanges one
// message with a neighbour.
//
// Ring: a reduce-scatter followed by an all-gather (Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// 2009). The values are cut into P segments; rank r owns segment r.
//  * Reduce-scatter, step s = 0 … P-2: rank r sends its partial sum of segment
//    r-s-1 to rank r+1, and adds its own values to segment r-s-2, which it gets
//    from rank r-1. After P-1 steps segment r is complete at rank r.
//  * All-gather: P-1 more steps send the complete segments around the ring in
//    the same direction.
//  * Cost: 2(P-1) steps; each rank sends 2n(P-1)/P bytes, and no algorithm
//    sends fewer.
//
// For P = 3, where a0 is rank 0's segment 0, and so on:
//
//             rank 0          rank 1          rank 2
//   start     a0 a1 a2        b0 b1 b2        c0 c1 c2
//   s = 0     .. c1+a1 ..     .. .. a2+b2     b0+c0 .. ..
//   s = 1     b0+c0+a0        c1+a1+b1        a2+b2+c2       the own segments
//   gather    every rank receives the two complete segments that it lacks
//
// Direct: every rank sends all its values to every other rank, and adds all
// values up itself, in the order of ranks. P-1 exchanges that do not depend on
// each other; each rank sends (P-1)n bytes. This has the least latency, so it
// is used for small messages.
//
// Invariants:
//  * The order of additions depends only on P and the number of values: from
//    rank 0 up (direct), or from the rank after a segment's owner around the
//    ring to the owner (ring). So a repeat gives the same bits.
//  * All ranks get the same bits.
#ifndef PACELINE_WORKER_COLLECTIVE_COLLECTIVES_H_
#define PACELINE_WORKER_COLLECTIVE_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/collective/transport.h"

namespace paceline {

// How float32 values are encoded in messages. Values are always added in
// float32; a 16-bit encoding rounds once per exchange.
enum class WireType { kNative, kFloat16, kBFloat16 };

// A range of elements.
struct Segment {
  int64_t begin = 0;
  int64_t size = 0;
};

// The segment of `count` elements that `rank` owns. Segments are as equal as
// multiples of 16 elements allow, so that no two ranks write to the same cache
// line.
Segment SegmentOf(int64_t count, int rank, int world_size);

// One rank's view of a group. All ranks must call the same methods with the
// same sizes in the same order. Methods block; errors are those of the
// transport. Not thread-safe. Allocates only if no earlier call was as large.
class Collectives {
 public:
  // `transport` must outlive the object.
  explicit Collectives(Transport& transport) : transport_(transport) {}

  int rank() const { return transport_.rank(); }
  int world_size() const { return transport_.world_size(); }

  // Replaces `values` by their sum over all ranks. Chooses the algorithm by
  // size. T is float, double or MomentsBlock; only float supports a `wire`
  // other than kNative.
  template <typename T>
  absl::Status AllReduce(absl::Span<T> values,
                         WireType wire = WireType::kNative);

  // The first half of a ring all-reduce: this rank's segment of `values` is
  // reduced; the other segments are left with partial sums.
  template <typename T>
  absl::Status ReduceScatter(absl::Span<T> values,
                             WireType wire = WireType::kNative);

  // The second half of a ring all-reduce: sends each rank's segment of `values`
  // to all ranks.
  template <typename T>
  absl::Status AllGather(absl::Span<T> values,
                         WireType wire = WireType::kNative);

  // Replaces `data` by that of rank `root`. Pieces travel along a chain of all
  // ranks as a pipeline: n bytes per link, plus P-1 pieces of delay.
  absl::Status Broadcast(absl::Span<std::byte> data, int root);

  // Blocks until all ranks have called it. A dissemination barrier (Hensgen,
  // Finkel and Manber, 1988): ⌈log2 P⌉ rounds; round k signals the rank 2^k
  // further on.
  absl::Status Barrier();

 private:
  // The rank `distance` further around the ring.
  int Around(int distance) const;
  template <typename T>
  absl::Status AllReduceDirect(absl::Span<T> values);
  // Memory of at least `size` bytes, reused by later calls.
  std::byte* Scratch(size_t size);

  Transport& transport_;
  std::vector<std::byte> scratch_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_COLLECTIVES_H_
