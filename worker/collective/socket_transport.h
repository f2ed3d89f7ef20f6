// A group whose ranks are processes on any machines, over plain TCP.
//
// Each pair of ranks has a connection, on which frames follow each other: a
// header of 8 bytes (little endian), whose top byte is the kind, then
//
//   message   its bytes, as many as the rest of the header says
//   ping      nothing: the sender is alive, and waits for somebody itself
//   abort     why the group ended: a text; the header has its size and code,
//             and the rank that is to blame
//
// A rank that waits sends pings, and one that gets pings goes on waiting; so
// the one that gives up is the neighbour of the one that hangs, and its reason
// goes around. What arrives passes through one buffer that stays in the cache,
// from which it is reduced.
#ifndef PACELINE_WORKER_COLLECTIVE_SOCKET_TRANSPORT_H_
#define PACELINE_WORKER_COLLECTIVE_SOCKET_TRANSPORT_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/base/mutex.h"
#include "worker/collective/transport.h"

namespace paceline {

struct SocketOptions {
  int rank = 0;
  // By rank, for errors: "worker-2 at 10.0.0.3:2222".
  std::vector<std::string> names;
  // How long a rank waits for another one that does nothing.
  absl::Duration timeout;
};

class SocketTransport : public Transport {
 public:
  // `sockets` by rank, connected streams; the own one is empty.
  static absl::StatusOr<std::unique_ptr<SocketTransport>> Create(
      SocketOptions options, std::vector<FileDescriptor> sockets);
  ~SocketTransport() override;

  int rank() const override { return options_.rank; }
  int world_size() const override {
    return static_cast<int>(options_.names.size());
  }
  std::string NameOf(int rank) const override { return options_.names[rank]; }
  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override;
  absl::Status ExchangeInto(int to, absl::Span<const std::byte> out, int from,
                            absl::Span<std::byte> in) override;
  void Abort(const absl::Status& reason) override;

 private:
  struct Peer;
  class Outgoing;
  class Incoming;

  SocketTransport(SocketOptions options, std::vector<FileDescriptor> sockets,
                  FileDescriptor wake);

  Peer PeerOf(int rank) const;
  absl::Status Run(Outgoing outgoing, Incoming incoming);
  // Waits until a socket is ready for what is left to do.
  absl::Status AwaitSockets(const Outgoing& outgoing, const Incoming& incoming,
                            absl::Time deadline);
  // Why a peer closed its connection, if anybody said so.
  absl::Status ReasonOf(const absl::Status& error,
                        const Incoming& incoming) const;
  // Tells all peers that this rank waits.
  void Ping();
  absl::Status Aborted() const;

  const SocketOptions options_;
  const std::vector<FileDescriptor> sockets_;
  // Readable once the group was aborted.
  const FileDescriptor wake_;
  std::vector<std::byte> buffer_;

  // The peer whose message is cut off in the middle; -1: none.
  std::atomic<int> cut_off_ = -1;

  mutable Mutex mutex_;
  absl::Status aborted_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_SOCKET_TRANSPORT_H_
