// The single TCP port on which a task listens.
#ifndef PACELINE_COMMON_NET_LISTENER_H_
#define PACELINE_COMMON_NET_LISTENER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// A non-blocking TCP socket that listens. Connections wait in its queue until
// the ranks of a group (worker/collective) or a gRPC server
// (common/rpc/rpc_server.h) accept them.
class Listener {
 public:
  // `address` is "host:port"; port 0 picks a free port, host "[::]" listens for
  // both IPv4 and IPv6. Unavailable names an address that cannot be used.
  static absl::StatusOr<Listener> Open(const std::string& address);

  // Another owner of the same socket, whose queue keeps connections while no
  // owner accepts any. ResourceExhausted if there is no file descriptor for it.
  absl::StatusOr<Listener> Duplicate() const;

  int port() const { return port_; }
  int socket() const { return socket_.get(); }

  // Accepts the next connection in the queue; its socket is blocking. NotFound
  // if there is none. ResourceExhausted if there is one, but no file descriptor
  // for it: it stays in the queue, so the socket stays readable, and a caller
  // that polls must pause.
  absl::StatusOr<FileDescriptor> Accept() const;

 private:
  Listener(FileDescriptor socket, int port)
      : socket_(std::move(socket)), port_(port) {}

  FileDescriptor socket_;
  int port_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_NET_LISTENER_H_
