#include "worker/collective/socket_transport.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "worker/collective/blamed_rank.h"

namespace paceline {
namespace {

// Half of a typical L2 cache.
constexpr size_t kBufferSize = 256 << 10;

// A process that waits for data wakes up when this many bytes have arrived.
constexpr size_t kMinWakeUp = 64 << 10;
constexpr size_t kMaxWakeUp = 1 << 20;

// How many pings a waiting rank sends before others would time out.
constexpr int kPingsPerTimeout = 4;

// After a connection was closed without a reason: how long a rank looks for the
// reason at its other peers, and the pause before it looks again.
constexpr absl::Duration kReasonTimeout = absl::Milliseconds(500);
constexpr absl::Duration kReasonPause = absl::Milliseconds(5);

// --- Frames ------------------------------------------------------------------

enum class FrameKind : uint64_t { kMessage = 0, kPing = 1, kAbort = 2 };
constexpr int kKindShift = 56;
constexpr int kCodeShift = 32;
// Position in the header of the blamed rank plus 1, which has 16 bits.
constexpr int kBlamedShift = 40;
static_assert(limits::kMaxTasks < 0xffff);
constexpr uint64_t kPingHeader = static_cast<uint64_t>(FrameKind::kPing)
                                 << kKindShift;
// Longest reason of an abort that is sent, in bytes.
constexpr size_t kMaxReason = 4096;

FrameKind KindOf(uint64_t header) {
  return static_cast<FrameKind>(header >> kKindShift);
}

std::string AbortFrame(const absl::Status& reason) {
  const absl::string_view text = reason.message().substr(0, kMaxReason);
  const uint64_t header =
      static_cast<uint64_t>(FrameKind::kAbort) << kKindShift |
      static_cast<uint64_t>(BlamedRank(reason) + 1) << kBlamedShift |
      static_cast<uint64_t>(reason.code()) << kCodeShift | text.size();
  return absl::StrCat(
      absl::string_view(reinterpret_cast<const char*>(&header), sizeof(header)),
      text);
}

// Reads the reason after the header of an abort; `begin` is the part that was
// received with the header.
absl::Status ReadReason(int socket, uint64_t header,
                        absl::Span<const std::byte> begin) {
  std::string text(reinterpret_cast<const char*>(begin.data()), begin.size());
  const size_t size =
      std::min<size_t>(static_cast<uint32_t>(header), kMaxReason);
  const size_t had = std::min(size, text.size());
  text.resize(size);
  if (had < size) {
    // Blocks for at most a second, by the socket's options. Whatever has not
    // arrived by then is missing.
    const ssize_t more =
        recv(socket, text.data() + had, size - had, MSG_WAITALL);
    text.resize(had + static_cast<size_t>(std::max<ssize_t>(more, 0)));
  }
  const auto code = static_cast<absl::StatusCode>(header >> kCodeShift & 0xff);
  const int blamed = static_cast<int>(header >> kBlamedShift & 0xffff) - 1;
  return WithBlamedRank(
      blamed,
      {code == absl::StatusCode::kOk ? absl::StatusCode::kUnavailable : code,
       text});
}

bool WouldBlock() { return errno == EAGAIN || errno == EINTR; }

// Looks for an abort among the frames that a rank has sent.
class ReasonSearch {
 public:
  // `begun`: the bytes that are missing of the current frame; nullopt if its
  // header is incomplete, so that the frames after it cannot be found.
  ReasonSearch(int socket, std::optional<uint64_t> begun)
      : socket_(socket), left_(begun.value_or(0)), has_ended_(!begun) {}

  // Whether no more frames can be found.
  bool has_ended() const { return has_ended_; }

  // Reads the frames that have arrived. Returns the reason if it is among them.
  std::optional<absl::Status> Read(absl::Time deadline) {
    while (!has_ended_ && MonotonicNow() < deadline) {
      if (left_ > 0) {
        char skipped[4096];
        const ssize_t size = Received(
            recv(socket_, skipped, std::min<uint64_t>(left_, sizeof(skipped)),
                 MSG_DONTWAIT));
        if (size == 0) break;
        left_ -= static_cast<uint64_t>(size);
        continue;
      }
      uint64_t header = 0;
      const ssize_t size = Received(
          recv(socket_, &header, sizeof(header), MSG_DONTWAIT | MSG_PEEK));
      if (size < static_cast<ssize_t>(sizeof(header))) break;
      recv(socket_, &header, sizeof(header), MSG_DONTWAIT);
      if (KindOf(header) == FrameKind::kAbort) {
        return ReadReason(socket_, header, {});
      }
      left_ = header == kPingHeader ? 0 : header;
      // After bytes that are no frame, nothing can be found.
      if (KindOf(left_) != FrameKind::kMessage) has_ended_ = true;
    }
    return std::nullopt;
  }

 private:
  // The result of recv; 0 if there is nothing to read now.
  ssize_t Received(ssize_t size) {
    if (size > 0) return size;
    has_ended_ = size == 0 || !WouldBlock();
    return 0;
  }

  const int socket_;
  uint64_t left_;
  bool has_ended_;
};

}  // namespace

// The other end of a connection.
struct SocketTransport::Peer {
  // An error for which the peer is to blame. `what` follows the peer's name.
  absl::Status Error(absl::StatusCode code, absl::string_view what) const {
    return WithBlamedRank(rank, {code, absl::StrCat(name, " ", what)});
  }
  absl::Status Closed(absl::string_view why) const {
    return Error(absl::StatusCode::kUnavailable,
                 absl::StrCat("closed the connection", why));
  }

  int rank;
  int socket;
  const std::string& name;
};

// A message that is being sent to a peer.
class SocketTransport::Outgoing {
 public:
  Outgoing(const Peer& peer, absl::Span<const std::byte> message)
      : peer_(peer),
        header_(message.size()),
        message_(message),
        left_(message.empty() ? 0 : sizeof(header_) + message.size()) {}

  const Peer& peer() const { return peer_; }
  bool done() const { return left_ == 0; }
  // Whether the message is partly sent.
  bool is_cut() const {
    return !done() && left_ < sizeof(header_) + message_.size();
  }

  // Sends as much as is possible without blocking. Returns whether there was
  // any progress.
  absl::StatusOr<bool> Push() {
    if (done()) return false;
    const size_t sent = sizeof(header_) + message_.size() - left_;
    iovec parts[2];
    size_t count = 0;
    if (sent < sizeof(header_)) {
      parts[count++] = {reinterpret_cast<char*>(&header_) + sent,
                        sizeof(header_) - sent};
    }
    const size_t from = sent < sizeof(header_) ? 0 : sent - sizeof(header_);
    parts[count++] = {const_cast<std::byte*>(message_.data()) + from,
                      message_.size() - from};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t size =
        sendmsg(peer_.socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) {
      if (WouldBlock()) return false;
      return peer_.Closed(absl::StrCat(" (", std::strerror(errno), ")"));
    }
    left_ -= static_cast<size_t>(size);
    return true;
  }

 private:
  const Peer peer_;
  uint64_t header_;
  const absl::Span<const std::byte> message_;
  size_t left_;
};

// A message that is being received from a peer: passed to a sink through a
// buffer, or, if `sink` is null, received directly into the buffer.
class SocketTransport::Incoming {
 public:
  Incoming(const Peer& peer, const std::string& receiver, size_t size,
           absl::Span<std::byte> buffer, const Sink* sink)
      : peer_(peer),
        receiver_(receiver),
        size_(size),
        buffer_(buffer),
        sink_(sink) {}

  const Peer& peer() const { return peer_; }
  bool done() const { return delivered_ == size_; }
  // Whether the peer has sent the reason of an abort instead.
  bool has_reason() const { return has_reason_; }
  // Bytes that are missing of a message whose beginning was received. nullopt
  // if its header is incomplete.
  std::optional<uint64_t> begun() const {
    if (header_size_ == 0 || done()) return 0;
    if (header_size_ < sizeof(header_)) return std::nullopt;
    return size_ - delivered_ - held_;
  }

  // Lets poll sleep until a good part of the rest has arrived, since each
  // wake-up of the process has a cost. Shorter data (a ping, the reason of an
  // abort) is noticed when the wait times out.
  void SetWakeUp() const {
    const size_t left = size_ - delivered_ - held_;
    const int bytes = static_cast<int>(
        std::max(std::min(left / 2, kMaxWakeUp), std::min(left, kMinWakeUp)));
    setsockopt(peer_.socket, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
  }

  // Receives what is available. Returns whether there was any.
  absl::StatusOr<bool> Pull() {
    if (done()) return false;
    iovec parts[2];
    size_t count = 0;
    if (header_size_ < sizeof(header_)) {
      parts[count++] = {reinterpret_cast<char*>(&header_) + header_size_,
                        sizeof(header_) - header_size_};
    }
    parts[count++] = {Free(),
                      std::min(buffer_.size(), size_ - delivered_) - held_};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t size = recvmsg(peer_.socket, &message, MSG_DONTWAIT);
    if (size < 0) {
      if (WouldBlock()) return false;
      return peer_.Closed(absl::StrCat(" (", std::strerror(errno), ")"));
    }
    if (size == 0) return peer_.Closed("");
    RETURN_IF_ERROR(Take(static_cast<size_t>(size)));
    return true;
  }

 private:
  // Where the next received bytes are stored.
  std::byte* Free() const { return buffer_.data() + held_; }

  absl::Status Take(size_t size) {
    const size_t of_header = std::min(size, sizeof(header_) - header_size_);
    header_size_ += of_header;
    size -= of_header;
    // After a ping, the rest of the buffer begins with the next header.
    while (header_size_ == sizeof(header_) && header_ == kPingHeader) {
      header_size_ = std::min(size, sizeof(header_));
      std::memcpy(&header_, Free(), header_size_);
      size -= header_size_;
      std::memmove(Free(), Free() + header_size_, size);
    }
    if (header_size_ < sizeof(header_)) return absl::OkStatus();
    if (KindOf(header_) == FrameKind::kAbort) {
      has_reason_ = true;
      return ReadReason(peer_.socket, header_, {Free(), size});
    }
    if (header_ != size_) {
      return peer_.Error(absl::StatusCode::kFailedPrecondition,
                         absl::StrCat("sent ", header_, " bytes to ", receiver_,
                                      ", which expects ", size_));
    }
    held_ += size;
    Deliver();
    return absl::OkStatus();
  }

  void Deliver() {
    const bool complete = delivered_ + held_ == size_;
    if (sink_ == nullptr) {
      if (complete) delivered_ = size_;
      return;
    }
    const size_t ready =
        complete ? held_ : held_ / kPieceAlignment * kPieceAlignment;
    if (ready == 0) return;
    (*sink_)(delivered_, buffer_.first(ready));
    delivered_ += ready;
    held_ -= ready;
    std::memmove(buffer_.data(), buffer_.data() + ready, held_);
  }

  const Peer peer_;
  const std::string& receiver_;
  const size_t size_;
  const absl::Span<std::byte> buffer_;
  const Sink* const sink_;
  uint64_t header_ = 0;
  size_t header_size_ = 0;
  bool has_reason_ = false;
  // Bytes delivered to the sink, and bytes in the buffer.
  size_t delivered_ = 0;
  size_t held_ = 0;
};

absl::StatusOr<std::unique_ptr<SocketTransport>> SocketTransport::Create(
    SocketOptions options, std::vector<FileDescriptor> sockets) {
  CHECK_EQ(sockets.size(), options.names.size());
  FileDescriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) return absl::ErrnoToStatus(errno, "eventfd");
  for (const FileDescriptor& socket : sockets) {
    if (!socket.is_open()) continue;
    // Fails on sockets other than TCP, which do not need it.
    const int on = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    const timeval second = {1, 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
  }
  return std::unique_ptr<SocketTransport>(new SocketTransport(
      std::move(options), std::move(sockets), std::move(wake)));
}

SocketTransport::SocketTransport(SocketOptions options,
                                 std::vector<FileDescriptor> sockets,
                                 FileDescriptor wake)
    : options_(std::move(options)),
      sockets_(std::move(sockets)),
      wake_(std::move(wake)),
      buffer_(kBufferSize) {}

SocketTransport::~SocketTransport() = default;

SocketTransport::Peer SocketTransport::PeerOf(int rank) const {
  return {rank, sockets_[rank].get(), options_.names[rank]};
}

absl::Status SocketTransport::Exchange(int to, absl::Span<const std::byte> out,
                                       int from, size_t in_size, Sink sink) {
  return Run({PeerOf(to), out}, {PeerOf(from), options_.names[rank()], in_size,
                                 absl::MakeSpan(buffer_), &sink});
}

absl::Status SocketTransport::ExchangeInto(int to,
                                           absl::Span<const std::byte> out,
                                           int from, absl::Span<std::byte> in) {
  return Run({PeerOf(to), out}, {PeerOf(from), options_.names[rank()],
                                 in.size(), in, /*sink=*/nullptr});
}

absl::Status SocketTransport::Run(Outgoing outgoing, Incoming incoming) {
  absl::Time moved_at = MonotonicNow();
  absl::Time pinged_at = moved_at;
  while (!outgoing.done() || !incoming.done()) {
    RETURN_IF_ERROR(Aborted());
    absl::StatusOr<bool> moved = outgoing.Push();
    cut_off_ = outgoing.is_cut() ? outgoing.peer().rank : -1;
    if (moved.ok()) {
      const absl::StatusOr<bool> received = incoming.Pull();
      moved = received.ok() ? *moved || *received : received;
    }
    if (!moved.ok()) return ReasonOf(moved.status(), incoming);
    const absl::Time now = MonotonicNow();
    if (*moved) moved_at = now;
    if (now - pinged_at >= options_.timeout / kPingsPerTimeout) {
      Ping();
      pinged_at = now;
    }
    if (!*moved) {
      RETURN_IF_ERROR(
          AwaitSockets(outgoing, incoming, moved_at + options_.timeout));
    }
  }
  return absl::OkStatus();
}

absl::Status SocketTransport::ReasonOf(const absl::Status& error,
                                       const Incoming& incoming) const {
  if (!absl::IsUnavailable(error) || incoming.has_reason()) return error;
  // A rank that aborts sends the reason to all peers, except to one that has
  // only a part of a message, or no room for the reason. So the reason for a
  // closed connection may come from another peer, and a little later.
  std::vector<ReasonSearch> searches;
  for (const FileDescriptor& socket : sockets_) {
    if (!socket.is_open()) continue;
    searches.emplace_back(socket.get(), socket.get() == incoming.peer().socket
                                            ? incoming.begun()
                                            : 0);
  }
  const absl::Time deadline =
      MonotonicNow() + std::min(kReasonTimeout, options_.timeout);
  while (MonotonicNow() < deadline) {
    RETURN_IF_ERROR(Aborted());
    bool have_ended = true;
    for (ReasonSearch& search : searches) {
      const std::optional<absl::Status> reason = search.Read(deadline);
      if (reason) return *reason;
      have_ended &= search.has_ended();
    }
    if (have_ended) break;
    absl::SleepFor(kReasonPause);
  }
  return error;
}

absl::Status SocketTransport::AwaitSockets(const Outgoing& outgoing,
                                           const Incoming& incoming,
                                           absl::Time deadline) {
  // poll ignores negative descriptors.
  pollfd sockets[] = {
      {incoming.done() ? -1 : incoming.peer().socket, POLLIN, 0},
      {outgoing.done() ? -1 : outgoing.peer().socket, POLLOUT, 0},
      {wake_.get(), POLLIN, 0},
  };
  const absl::Duration left = deadline - MonotonicNow();
  if (left > absl::ZeroDuration()) {
    const absl::Duration slice =
        std::min(left, options_.timeout / kPingsPerTimeout);
    if (!incoming.done()) incoming.SetWakeUp();
    const int ready =
        poll(sockets, std::size(sockets),
             static_cast<int>(absl::ToInt64Milliseconds(slice)) + 1);
    if (ready < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "poll");
    }
    return absl::OkStatus();
  }
  const Peer& missing = incoming.done() ? outgoing.peer() : incoming.peer();
  return missing.Error(absl::StatusCode::kDeadlineExceeded,
                       absl::StrCat("did not come within ",
                                    absl::FormatDuration(options_.timeout)));
}

void SocketTransport::Ping() {
  for (int rank = 0; rank < world_size(); ++rank) {
    const int socket = sockets_[rank].get();
    if (socket < 0 || rank == cut_off_) continue;
    // Ignore errors: if the peer is gone, the next exchange with it fails.
    const ssize_t size = send(socket, &kPingHeader, sizeof(kPingHeader),
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0 && size < static_cast<ssize_t>(sizeof(kPingHeader))) {
      shutdown(socket, SHUT_RDWR);
    }
  }
}

absl::Status SocketTransport::Aborted() const {
  MutexLock lock(mutex_);
  return aborted_;
}

void SocketTransport::Abort(const absl::Status& reason) {
  {
    MutexLock lock(mutex_);
    if (!aborted_.ok()) return;
    aborted_ = reason;
  }
  const uint64_t one = 1;
  if (write(wake_.get(), &one, sizeof(one)) < 0) {
    PLOG(WARNING) << "eventfd";
  }
  const std::string frame = AbortFrame(reason);
  for (int rank = 0; rank < world_size(); ++rank) {
    const int socket = sockets_[rank].get();
    if (socket < 0) continue;
    if (rank != cut_off_) {
      send(socket, frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    shutdown(socket, SHUT_WR);
  }
}

}  // namespace paceline
