// A group whose ranks are processes on any machines, connected by TCP.
//
// Each pair of ranks has a connection that carries frames. A frame is a header
// of 8 bytes (little-endian), whose top byte is the kind, followed by:
//
//  * message: as many bytes as the rest of the header says.
//  * ping: nothing. The sender is alive, but waits for another rank itself.
//  * abort: the reason why the group ended, as text. The header has its size,
//    its status code, and the rank to blame.
//
// A rank that waits sends pings, and a rank that receives pings keeps waiting.
// So the first rank that times out is a direct neighbour of the one that hangs,
// and its reason travels to all ranks. A rank whose peer closes a connection
// without a reason looks for the reason at its other peers. Received data
// passes through one buffer that fits into the cache, from which it is reduced.
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
#include "common/tls/tls_tunnels.h"
#include "worker/collective/transport.h"

namespace paceline {

struct SocketOptions {
  int rank = 0;
  // By rank, for errors: "worker-2 at 10.0.0.3:2222".
  std::vector<std::string> names;
  // How long a rank waits for another rank that makes no progress.
  absl::Duration timeout;
  // Through which the sockets lead; null: they are plain.
  std::unique_ptr<TlsTunnels> tunnels;
};

class SocketTransport : public Transport {
 public:
  // `sockets`: connected stream sockets by rank; that of the own rank is empty.
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
  // Waits until one of the sockets is ready for the rest of the exchange.
  absl::Status AwaitSockets(const Outgoing& outgoing, const Incoming& incoming,
                            absl::Time deadline);
  // The reason why a peer closed its connection, if any rank has sent one.
  // Otherwise `error`. Blocks for half a second at most, and for another second
  // if the reason arrives only in part.
  absl::Status ReasonOf(const absl::Status& error,
                        const Incoming& incoming) const;
  // Sends a ping to all peers.
  void Ping();
  absl::Status Aborted() const;

  const SocketOptions options_;
  const std::vector<FileDescriptor> sockets_;
  // Becomes readable when the group is aborted.
  const FileDescriptor wake_;
  std::vector<std::byte> buffer_;

  // The peer to which a message was sent only in part; -1: none.
  std::atomic<int> cut_off_ = -1;

  mutable Mutex mutex_;
  absl::Status aborted_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_SOCKET_TRANSPORT_H_
