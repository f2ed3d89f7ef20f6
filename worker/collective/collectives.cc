#include "worker/collective/collectives.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "common/base/status_macros.h"
#include "worker/collective/reduce_kernels.h"

namespace paceline {
namespace {

// If a direct all-reduce makes each rank send at most this many bytes, it takes
// less time than a ring.
constexpr size_t kMaxDirectBytes = 16 << 10;
// Piece size of a broadcast, in bytes.
constexpr size_t kPieceBytes = 256 << 10;
// Segments begin at multiples of this many elements.
constexpr int64_t kSegmentAlignment = 16;

// How values of type T are encoded in messages.
template <typename T>
struct NativeCodec {
  using Wire = T;
  // Bytes of scratch memory that Encode needs per value.
  static constexpr size_t kScratch = 0;
  static const Wire* Encode(const T* values, int64_t /*count*/,
                            std::byte* /*scratch*/) {
    return values;
  }
  static void Copy(const Wire* from, T* to, int64_t count) {
    std::memcpy(to, from, count * sizeof(T));
  }
  static void Add(const Wire* from, T* to, int64_t count) {
    AddTo(to, from, count);
  }
};

template <void (*kEncode)(const float*, uint16_t*, int64_t),
          void (*kCopy)(const uint16_t*, float*, int64_t),
          void (*kAdd)(const uint16_t*, float*, int64_t)>
struct HalfCodec {
  using Wire = uint16_t;
  static constexpr size_t kScratch = sizeof(Wire);
  static const Wire* Encode(const float* values, int64_t count,
                            std::byte* scratch) {
    Wire* wire = reinterpret_cast<Wire*>(scratch);
    kEncode(values, wire, count);
    return wire;
  }
  static void Copy(const Wire* from, float* to, int64_t count) {
    kCopy(from, to, count);
  }
  static void Add(const Wire* from, float* to, int64_t count) {
    kAdd(from, to, count);
  }
};
using Float16Codec = HalfCodec<ToFloat16, FromFloat16, AddFloat16>;
using BFloat16Codec = HalfCodec<ToBFloat16, FromBFloat16, AddBFloat16>;

// Calls body(Codec()) with the codec for T and `wire`.
template <typename T, typename Body>
absl::Status WithCodec(WireType wire, Body body) {
  if constexpr (std::is_same_v<T, float>) {
    if (wire == WireType::kFloat16) return body(Float16Codec());
    if (wire == WireType::kBFloat16) return body(BFloat16Codec());
  }
  return body(NativeCodec<T>());
}

template <typename Wire>
absl::Span<const std::byte> BytesOf(const Wire* values, int64_t count) {
  return {reinterpret_cast<const std::byte*>(values), count * sizeof(Wire)};
}

template <typename T>
absl::Span<std::byte> MutableBytesOf(absl::Span<T> values) {
  return {reinterpret_cast<std::byte*>(values.data()),
          values.size() * sizeof(T)};
}

// One step of a ring: sends `message` to the next rank, and calls take(from,
// to, count) for each piece that arrives from the previous rank, until `in` is
// complete.
template <typename Wire, typename T>
absl::Status PassOn(Transport& transport, int to_rank, int from_rank,
                    absl::Span<const std::byte> message, absl::Span<T> in,
                    void (*take)(const Wire* from, T* to, int64_t count)) {
  return transport.Exchange(
      to_rank, message, from_rank, in.size() * sizeof(Wire),
      [&](size_t offset, absl::Span<const std::byte> data) {
        take(reinterpret_cast<const Wire*>(data.data()),
             in.data() + offset / sizeof(Wire), data.size() / sizeof(Wire));
      });
}

void DropAll(size_t, absl::Span<const std::byte>) {}

}  // namespace

Segment SegmentOf(int64_t count, int rank, int world_size) {
  const int64_t units = (count + kSegmentAlignment - 1) / kSegmentAlignment;
  const int64_t begin =
      std::min(count, units * rank / world_size * kSegmentAlignment);
  const int64_t end =
      std::min(count, units * (rank + 1) / world_size * kSegmentAlignment);
  return {begin, end - begin};
}

int Collectives::Around(int distance) const {
  const int size = world_size();
  return ((rank() + distance) % size + size) % size;
}

std::byte* Collectives::Scratch(size_t size) {
  if (scratch_.size() < size) scratch_.resize(size);
  return scratch_.data();
}

template <typename T>
absl::Status Collectives::AllReduce(absl::Span<T> values, WireType wire) {
  if (world_size() == 1) return absl::OkStatus();
  const size_t sent = values.size() * sizeof(T) * (world_size() - 1);
  if (wire == WireType::kNative && sent <= kMaxDirectBytes) {
    return AllReduceDirect(values);
  }
  RETURN_IF_ERROR(ReduceScatter(values, wire));
  return AllGather(values, wire);
}

template <typename T>
absl::Status Collectives::AllReduceDirect(absl::Span<T> values) {
  const int64_t count = static_cast<int64_t>(values.size());
  const size_t size = count * sizeof(T);
  if (size == 0) return absl::OkStatus();
  // The values of all ranks, concatenated by rank.
  std::byte* all = Scratch(size * world_size());
  std::memcpy(all + size * rank(), values.data(), size);
  for (int distance = 1; distance < world_size(); ++distance) {
    const int from = Around(-distance);
    RETURN_IF_ERROR(transport_.ExchangeInto(Around(distance),
                                            BytesOf(values.data(), count), from,
                                            {all + size * from, size}));
  }
  std::memcpy(values.data(), all, size);
  for (int from = 1; from < world_size(); ++from) {
    AddTo(values.data(), reinterpret_cast<const T*>(all + size * from), count);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Collectives::ReduceScatter(absl::Span<T> values, WireType wire) {
  const int64_t count = static_cast<int64_t>(values.size());
  return WithCodec<T>(wire, [&](auto codec) -> absl::Status {
    using Codec = decltype(codec);
    using Wire = typename Codec::Wire;
    for (int step = 0; step + 1 < world_size(); ++step) {
      const Segment out = SegmentOf(count, Around(-step - 1), world_size());
      const Segment in = SegmentOf(count, Around(-step - 2), world_size());
      const Wire* message = Codec::Encode(values.data() + out.begin, out.size,
                                          Scratch(out.size * Codec::kScratch));
      RETURN_IF_ERROR(PassOn<Wire>(
          transport_, Around(1), Around(-1), BytesOf(message, out.size),
          values.subspan(in.begin, in.size), Codec::Add));
    }
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status Collectives::AllGather(absl::Span<T> values, WireType wire) {
  const int64_t count = static_cast<int64_t>(values.size());
  return WithCodec<T>(wire, [&](auto codec) -> absl::Status {
    using Codec = decltype(codec);
    using Wire = typename Codec::Wire;
    for (int step = 0; step + 1 < world_size(); ++step) {
      const Segment out = SegmentOf(count, Around(-step), world_size());
      const Segment in = SegmentOf(count, Around(-step - 1), world_size());
      T* own = values.data() + out.begin;
      const Wire* message =
          Codec::Encode(own, out.size, Scratch(out.size * Codec::kScratch));
      // The own segment must be rounded like the copies that the other ranks
      // get.
      if (step == 0 && sizeof(Wire) != sizeof(T)) {
        Codec::Copy(message, own, out.size);
      }
      const absl::Span<T> target = values.subspan(in.begin, in.size);
      const auto bytes = BytesOf(message, out.size);
      RETURN_IF_ERROR(Codec::kScratch == 0
                          ? transport_.ExchangeInto(Around(1), bytes,
                                                    Around(-1),
                                                    MutableBytesOf(target))
                          : PassOn<Wire>(transport_, Around(1), Around(-1),
                                         bytes, target, Codec::Copy));
    }
    return absl::OkStatus();
  });
}

absl::Status Collectives::Broadcast(absl::Span<std::byte> data, int root) {
  // Position in the chain, which starts at the root.
  const int position = Around(-root);
  const bool is_first = position == 0;
  const bool is_last = position == world_size() - 1;
  const size_t piece_count = (data.size() + kPieceBytes - 1) / kPieceBytes;
  const auto piece = [&](size_t index) {
    return data.subspan(index * kPieceBytes, kPieceBytes);
  };
  // Receives piece i while it sends piece i - 1. The root, which has all
  // pieces, sends piece i.
  const size_t lag = is_first ? 0 : 1;
  for (size_t i = 0; i < piece_count + lag; ++i) {
    absl::Span<std::byte> out, in;
    if (!is_last && i >= lag) out = piece(i - lag);
    if (!is_first && i < piece_count) in = piece(i);
    RETURN_IF_ERROR(transport_.ExchangeInto(Around(1), out, Around(-1), in));
  }
  return absl::OkStatus();
}

absl::Status Collectives::Barrier() {
  const std::byte token{1};
  for (int distance = 1; distance < world_size(); distance *= 2) {
    RETURN_IF_ERROR(transport_.Exchange(Around(distance), {&token, 1},
                                        Around(-distance), 1, DropAll));
  }
  return absl::OkStatus();
}

#define PACELINE_INSTANTIATE(T)                                              \
  template absl::Status Collectives::AllReduce(absl::Span<T>, WireType);     \
  template absl::Status Collectives::ReduceScatter(absl::Span<T>, WireType); \
  template absl::Status Collectives::AllGather(absl::Span<T>, WireType)
PACELINE_INSTANTIATE(float);
PACELINE_INSTANTIATE(double);
#undef PACELINE_INSTANTIATE
template absl::Status Collectives::AllReduce(absl::Span<MomentsBlock>,
                                             WireType);

}  // namespace paceline
