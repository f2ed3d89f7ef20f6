// A TCP proxy that resets its connections on request.
#ifndef PACELINE_TESTS_UNIT_SESSION_RESETTING_PROXY_H_
#define PACELINE_TESTS_UNIT_SESSION_RESETTING_PROXY_H_

#include <list>
#include <string>
#include <thread>

#include "common/base/file_descriptor.h"
#include "common/base/mutex.h"
#include "common/net/listener.h"

namespace paceline {

// Thread-safe. A thread of its own forwards bytes both ways.
class ResettingProxy {
 public:
  // Forwards to `port` on this machine, with source port `from`; 0: any.
  explicit ResettingProxy(int port, int from = 0);
  ~ResettingProxy();

  // "127.0.0.1:<port>", for callers.
  const std::string& address() const { return address_; }

  // Resets all connections before it returns. Bytes that were received but not
  // forwarded are lost. Later connections are forwarded.
  void Reset();

 private:
  struct Connection {
    FileDescriptor caller;
    FileDescriptor callee;
  };

  void Run();
  void Accept();
  // Forwards the available bytes; returns false once a side has closed.
  static bool Carry(const FileDescriptor& from, const FileDescriptor& to);
  void ResetConnections();

  const std::string callee_;
  const int from_;
  const Listener listener_;
  const std::string address_;
  std::list<Connection> connections_;
  Mutex mutex_;
  CondVar changed_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_reset_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_SESSION_RESETTING_PROXY_H_
