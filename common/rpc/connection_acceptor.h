// Takes connections from a listener, on a thread of its own.
//
// gRPC (1.51) stops listening for good when it is once out of descriptors; this
// waits until there are some again.
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
  // `take` gets each connection, which does not block and sends small messages
  // at once, on the thread.
  ConnectionAcceptor(Listener listener,
                     std::function<void(FileDescriptor)> take);
  // Closes the listener.
  ~ConnectionAcceptor();

 private:
  void Run();

  const Listener listener_;
  const std::function<void(FileDescriptor)> take_;
  // Becomes readable when the thread is to end.
  const FileDescriptor stop_;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CONNECTION_ACCEPTOR_H_
