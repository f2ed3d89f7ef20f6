// Accepts connections on a separate thread.
//
// gRPC (1.51) stops accepting forever once it runs out of file descriptors;
// this class retries until there are some again.
#ifndef PACELINE_COMMON_RPC_CONNECTION_ACCEPTOR_H_
#define PACELINE_COMMON_RPC_CONNECTION_ACCEPTOR_H_

#include <functional>
#include <thread>

#include "common/base/file_descriptor.h"
#include "common/net/listener.h"

namespace paceline {

// Thread-safe.
class ConnectionAcceptor {
 public:
  // Calls `take` on the thread for each accepted connection. Its socket is
  // non-blocking, with TCP_NODELAY, and with TCP's keepalive, which closes it
  // some 90 s after its peer's machine is gone.
  ConnectionAcceptor(Listener listener,
                     std::function<void(FileDescriptor)> take);
  // Closes the listener, and joins the thread.
  ~ConnectionAcceptor();

 private:
  void Run();

  const Listener listener_;
  const std::function<void(FileDescriptor)> take_;
  // Becomes readable when the thread has to end.
  const FileDescriptor stop_;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CONNECTION_ACCEPTOR_H_
