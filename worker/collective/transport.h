// How the ranks of a group exchange messages; collectives are built on it.
#ifndef PACELINE_WORKER_COLLECTIVE_TRANSPORT_H_
#define PACELINE_WORKER_COLLECTIVE_TRANSPORT_H_

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace paceline {

// One rank's access to the group. Not thread-safe, except Abort.
class Transport {
 public:
  // Receives a message piece by piece, in order. `offset` is the piece's first
  // byte in the message, a multiple of kPieceAlignment. `data` is valid only
  // during the call.
  using Sink =
      absl::FunctionRef<void(size_t offset, absl::Span<const std::byte> data)>;
  static constexpr size_t kPieceAlignment = 64;

  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  // For errors: "worker-2 at 10.0.0.3:2222".
  virtual std::string NameOf(int rank) const = 0;

  // Sends `out` to rank `to` while it passes the `in_size` bytes from rank
  // `from` to `sink`. Empty messages are not sent. Blocks until everything is
  // received and `out` may be changed.
  //
  // Messages between two ranks arrive in order. DeadlineExceeded names the rank
  // that did not do its part in time; FailedPrecondition names a rank that sent
  // another number of bytes; after Abort the error is its reason. If ranks are
  // processes, errors also blame a rank (blamed_rank.h). After an error the
  // group cannot be used any more.
  virtual absl::Status Exchange(int to, absl::Span<const std::byte> out,
                                int from, size_t in_size, Sink sink) = 0;

  // The same for a message that is only stored. The transport receives directly
  // into `in` if it can.
  virtual absl::Status ExchangeInto(int to, absl::Span<const std::byte> out,
                                    int from, absl::Span<std::byte> in) {
    return Exchange(to, out, from, in.size(),
                    [in](size_t offset, absl::Span<const std::byte> data) {
                      std::memcpy(in.data() + offset, data.data(), data.size());
                    });
  }

  // Ends the group: calls of all ranks return `reason` with the rank that it
  // blames, unless the group has already ended for another reason. Thread-safe.
  virtual void Abort(const absl::Status& reason) = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_TRANSPORT_H_
