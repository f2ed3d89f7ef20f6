#include "common/tls/tls_tunnel.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/tls/tls_files.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Sixteen records of TLS.
constexpr size_t kFlowSize = 256 << 10;
// How long data is still sent after the program has closed its end.
constexpr absl::Duration kLinger = absl::Seconds(1);

bool CanRetry() { return errno == EAGAIN || errno == EINTR; }

// Signals are for other threads. OpenSSL's writes would raise SIGPIPE.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

void FreeTlsConnection::operator()(SSL* connection) const {
  SSL_free(connection);
}

TlsTunnel::TlsTunnel(TlsConnection connection, FileDescriptor socket,
                     FileDescriptor plain)
    : socket_(std::move(socket)),
      plain_(std::move(plain)),
      connection_(std::move(connection)),
      thread_([this] { Run(); }) {}

TlsTunnel::~TlsTunnel() { thread_.join(); }

absl::Status TlsTunnel::AwaitHandshake(absl::Duration timeout) {
  const absl::Time deadline = MonotonicNow() + timeout;
  MutexLock lock(mutex_);
  while (!handshake_) {
    const absl::Duration left = deadline - MonotonicNow();
    if (left <= absl::ZeroDuration()) {
      return absl::UnavailableError("did not answer in time");
    }
    changed_.WaitFor(mutex_, left);
  }
  return *handshake_;
}

void TlsTunnel::Run() {
  BlockSignals();
  const absl::Status status = Handshake();
  const bool is_server = SSL_is_server(connection_.get()) == 1;
  LOG_IF(WARNING, !status.ok() && is_server && !absl::IsCancelled(status))
      << "turned a connection away: " << status.message();
  {
    MutexLock lock(mutex_);
    handshake_ = status;
    changed_.NotifyAll();
  }
  if (status.ok()) Pump();
  shutdown(socket_.get(), SHUT_RDWR);
  plain_ = FileDescriptor();
  has_ended_ = true;
}

absl::Status TlsTunnel::Handshake() {
  while (true) {
    ERR_clear_error();
    wanted_ = 0;
    const int result = SSL_do_handshake(connection_.get());
    if (result == 1) return absl::OkStatus();
    if (GoesOn(result)) {
      if (Wait() && !leave_by_) continue;
      return absl::CancelledError("the program has closed its end");
    }
    const auto verified = SSL_get_verify_result(connection_.get());
    if (verified != X509_V_OK) {
      return absl::UnauthenticatedError(
          absl::StrCat("TLS: its certificate is refused: ",
                       X509_verify_cert_error_string(verified)));
    }
    const unsigned long error = ERR_peek_last_error();
    if (error == 0 ||
        ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
      return absl::AbortedError(
          "TLS: closed the connection during the handshake");
    }
    return absl::UnauthenticatedError(
        absl::StrCat("TLS: the handshake failed: ", TakeTlsError()));
  }
}

void TlsTunnel::Pump() {
  out_.buffer.resize(kFlowSize);
  in_.buffer.resize(kFlowSize);
  while (!out_.sink_closed || !in_.sink_closed) {
    wanted_ = 0;
    bool moved = ReadPlain();
    moved = WriteEncrypted() || moved;
    moved = ReadEncrypted() || moved;
    moved = WritePlain() || moved;
    if (!moved && !Wait()) return;
  }
}

bool TlsTunnel::ReadPlain() {
  if (!out_.empty() || out_.source_ended) return false;
  const ssize_t size =
      recv(plain_.get(), out_.buffer.data(), out_.buffer.size(), MSG_DONTWAIT);
  if (size < 0 && CanRetry()) return false;
  out_.begin = 0;
  out_.end = static_cast<size_t>(std::max<ssize_t>(size, 0));
  out_.source_ended = size <= 0;
  return true;
}

bool TlsTunnel::WriteEncrypted() {
  if (out_.sink_closed || (out_.empty() && !out_.source_ended)) return false;
  ERR_clear_error();
  if (out_.empty()) {
    const int result = SSL_shutdown(connection_.get());
    if (result < 0 && GoesOn(result)) return false;
    shutdown(socket_.get(), SHUT_WR);
    out_.sink_closed = true;
    return true;
  }
  const int size = SSL_write(connection_.get(), out_.buffer.data() + out_.begin,
                             static_cast<int>(out_.size()));
  if (size > 0) {
    out_.begin += static_cast<size_t>(size);
    return true;
  }
  if (GoesOn(size)) return false;
  // The program finds out from its own writes.
  shutdown(plain_.get(), SHUT_RD);
  out_.begin = out_.end;
  out_.source_ended = out_.sink_closed = true;
  return true;
}

bool TlsTunnel::ReadEncrypted() {
  if (!in_.empty() || in_.source_ended) return false;
  in_.begin = in_.end = 0;
  // One call returns one record at most. The program is woken for all.
  while (in_.end < in_.buffer.size()) {
    ERR_clear_error();
    const int size = SSL_read(connection_.get(), in_.buffer.data() + in_.end,
                              static_cast<int>(in_.buffer.size() - in_.end));
    if (size <= 0) {
      in_.source_ended = !GoesOn(size);
      break;
    }
    in_.end += static_cast<size_t>(size);
  }
  return !in_.empty() || in_.source_ended;
}

bool TlsTunnel::WritePlain() {
  if (in_.sink_closed || (in_.empty() && !in_.source_ended)) return false;
  if (in_.empty()) {
    shutdown(plain_.get(), SHUT_WR);
    in_.sink_closed = true;
    return true;
  }
  const ssize_t size = send(plain_.get(), in_.buffer.data() + in_.begin,
                            in_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (size < 0 && CanRetry()) return false;
  if (size < 0) {
    in_.begin = in_.end;
    in_.source_ended = in_.sink_closed = true;
  } else {
    in_.begin += static_cast<size_t>(size);
  }
  return true;
}

bool TlsTunnel::GoesOn(int result) {
  const int error = SSL_get_error(connection_.get(), result);
  if (error == SSL_ERROR_WANT_READ) wanted_ |= POLLIN;
  if (error == SSL_ERROR_WANT_WRITE) wanted_ |= POLLOUT;
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

bool TlsTunnel::Wait() {
  short plain_events = 0;
  if (!out_.buffer.empty() && out_.empty() && !out_.source_ended) {
    plain_events |= POLLIN;
  }
  if (!in_.empty()) plain_events |= POLLOUT;
  // A negative descriptor is ignored: once the program has left, its end would
  // be ready all the time.
  pollfd polled[] = {{leave_by_ ? -1 : plain_.get(), plain_events, 0},
                     {wanted_ == 0 ? -1 : socket_.get(), wanted_, 0}};
  int timeout = -1;
  if (leave_by_) {
    const absl::Duration left = *leave_by_ - MonotonicNow();
    if (left <= absl::ZeroDuration()) return false;
    timeout = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
  }
  poll(polled, std::size(polled), timeout);
  if ((polled[0].revents & (POLLHUP | POLLERR)) != 0) {
    // Nobody reads any more; what the program has written is still sent.
    leave_by_ = MonotonicNow() + kLinger;
    in_.begin = in_.end;
    in_.source_ended = in_.sink_closed = true;
  }
  return true;
}

}  // namespace paceline
