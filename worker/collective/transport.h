// How the ranks of a group reach each other: what collectives are made of.
#ifndef PACELINE_WORKER_COLLECTIVE_TRANSPORT_H_
#define PACELINE_WORKER_COLLECTIVE_TRANSPORT_H_

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace paceline {

// One rank's end. Not thread-safe, but for Abort.
class Transport {
 public:
  // Takes what arrives piece by piece, in order. `offset` counts bytes from the
  // start of the message and is a multiple of kPieceAlignment; `data` is valid
  // for the call alone.
  using Sink =
      absl::FunctionRef<void(size_t offset, absl::Span<const std::byte> data)>;
  static constexpr size_t kPieceAlignment = 64;

  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  // "worker-2 at 10.0.0.3:2222", for errors.
  virtual std::string NameOf(int rank) const = 0;

  // Sends `out` to rank `to` while it hands the `in_size` bytes that come from
  // rank `from` to `sink`. An empty message is not sent. Blocks until all has
  // come and `out` may be changed.
  //
  // Messages between two ranks arrive in order. DeadlineExceeded names the rank
  // that did not do its part in time; FailedPrecondition, one that sent another
  // number of bytes; after Abort, its reason. Where ranks are processes, errors
  // also blame the rank (blamed_rank.h). After an error the group is of no
  // further use.
  virtual absl::Status Exchange(int to, absl::Span<const std::byte> out,
                                int from, size_t in_size, Sink sink) = 0;

  // The same for a message that is only stored: it goes straight to `in`, where
  // the transport can do so.
  virtual absl::Status ExchangeInto(int to, absl::Span<const std::byte> out,
                                    int from, absl::Span<std::byte> in) {
    return Exchange(to, out, from, in.size(),
                    [in](size_t offset, absl::Span<const std::byte> data) {
                      std::memcpy(in.data() + offset, data.data(), data.size());
                    });
  }

  // Ends the group: calls of all ranks return `reason`, with the rank that it
  // blames, unless the group has ended for another one before. Thread-safe.
  virtual void Abort(const absl::Status& reason) = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_TRANSPORT_H_
