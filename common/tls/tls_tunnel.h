// One connection of TlsTunnels.
#ifndef PACELINE_COMMON_TLS_TLS_TUNNEL_H_
#define PACELINE_COMMON_TLS_TLS_TUNNEL_H_

#include <openssl/types.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/base/mutex.h"

namespace paceline {

struct FreeTlsConnection {
  void operator()(SSL* connection) const;
};
using TlsConnection = std::unique_ptr<SSL, FreeTlsConnection>;

// Connects a plain socket with an encrypted one, on a thread. Ends when the
// encrypted one has been closed in both directions, or the program has closed
// its end of the plain one.
class TlsTunnel {
 public:
  // `connection` is ready for its handshake, and uses `socket`.
  TlsTunnel(TlsConnection connection, FileDescriptor socket,
            FileDescriptor plain);
  // Joins the thread.
  ~TlsTunnel();

  // Blocks until the handshake has ended. Unauthenticated says why it failed;
  // Aborted: the peer has closed the connection; Unavailable after `timeout`.
  absl::Status AwaitHandshake(absl::Duration timeout);

  bool has_ended() const { return has_ended_; }

 private:
  // Bytes on their way in one direction.
  struct Flow {
    std::vector<char> buffer;
    size_t begin = 0;
    size_t end = 0;
    // Whether the source has ended, and whether the sink was told.
    bool source_ended = false;
    bool sink_closed = false;

    bool empty() const { return begin == end; }
    size_t size() const { return end - begin; }
  };

  void Run();
  absl::Status Handshake();
  void Pump();
  // Each moves what is possible without blocking, and returns whether that was
  // anything.
  bool ReadPlain();
  bool WriteEncrypted();
  bool ReadEncrypted();
  bool WritePlain();
  // After a call of OpenSSL that returned `result`: whether the connection goes
  // on. Remembers what it waits for.
  bool GoesOn(int result);
  // Waits until something can be moved. Returns false if the program has left
  // and its data is not taken.
  bool Wait();

  const FileDescriptor socket_;
  FileDescriptor plain_;
  const TlsConnection connection_;
  Flow out_;
  Flow in_;
  // Events for which OpenSSL waits on the socket.
  short wanted_ = 0;
  // Once the program has closed its end: when the tunnel gives up.
  std::optional<absl::Time> leave_by_;

  std::atomic<bool> has_ended_ = false;
  Mutex mutex_;
  CondVar changed_;
  std::optional<absl::Status> handshake_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TLS_TLS_TUNNEL_H_
