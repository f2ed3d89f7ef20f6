// The one TCP port on which a task is reached.
#ifndef PACELINE_COMMON_NET_LISTENER_H_
#define PACELINE_COMMON_NET_LISTENER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// A TCP socket that listens, and does not block. Connections wait in its queue
// until somebody takes them: the ranks of a group (worker/collective), or a
// gRPC server (common/rpc/rpc_server.h).
class Listener {
 public:
  // `address` is "host:port"; port 0 takes a free one, "[::]" is for both
  // families. Unavailable names an address that cannot be had.
  static absl::StatusOr<Listener> Open(const std::string& address);

  int port() const { return port_; }
  int socket() const { return socket_.get(); }

  // The next connection in the queue, which blocks. NotFound if there is none;
  // ResourceExhausted if there is one and no descriptor for it: then it waits
  // in the queue, and a caller that polls must pause, for the socket stays
  // ready.
  absl::StatusOr<FileDescriptor> Accept() const;

 private:
  Listener(FileDescriptor socket, int port)
      : socket_(std::move(socket)), port_(port) {}

  FileDescriptor socket_;
  int port_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_NET_LISTENER_H_
