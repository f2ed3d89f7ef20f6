// A TCP proxy that resets its connections when it is told to.
#ifndef PACELINE_TESTS_UNIT_SESSION_RESETTING_PROXY_H_
#define PACELINE_TESTS_UNIT_SESSION_RESETTING_PROXY_H_

#include <list>
#include <string>
#include <thread>

#include "common/base/file_descriptor.h"
#include "common/base/mutex.h"

namespace paceline {

// Thread-safe. Has a thread of its own, which carries bytes both ways.
class ResettingProxy {
 public:
  // Leads to a port of this machine, from port `from`; 0: from any.
  explicit ResettingProxy(int port, int from = 0);
  ~ResettingProxy();

  // "127.0.0.1:<port>", for callers.
  const std::string& address() const { return address_; }

  // Resets all connections; they are gone when it returns. What came in before
  // and was not carried on is lost. Later connections are carried.
  void Reset();

 private:
  struct Connection {
    FileDescriptor caller;
    FileDescriptor callee;
  };

  void Run();
  void Accept();
  // Carries on what there is; false once a side has closed.
  static bool Carry(const FileDescriptor& from, const FileDescriptor& to);
  void ResetConnections();

  const int port_;
  const int from_;
  FileDescriptor listener_;
  std::string address_;
  std::list<Connection> connections_;
  Mutex mutex_;
  CondVar changed_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_reset_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_SESSION_RESETTING_PROXY_H_
