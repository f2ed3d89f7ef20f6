#include "tests/relay/relay.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "tests/connect_to.h"

namespace paceline {
namespace {

// Bytes that are read at once: a tenth of a millisecond at 1 Gbit/s.
constexpr size_t kPiece = 16 << 10;
// Pieces that wait for a receiver who does not read.
constexpr size_t kMaxPieces = 256;
// A wire makes up for so much time in which a thread of the relay slept too
// long while bytes were waiting, and does not sleep for less.
constexpr absl::Duration kSlack = absl::Milliseconds(1);
constexpr absl::Duration kShortestSleep = absl::Microseconds(200);
// How often a relay looks whether it is to end, or a connection has ended.
constexpr int kPollMilliseconds = 50;
constexpr absl::Duration kConnectTimeout = absl::Seconds(2);

Listener OpenListener(const std::string& address) {
  auto opened = Listener::Open(address);
  CHECK(opened.ok()) << opened.status();
  return *std::move(opened);
}

void SendAtOnce(int socket) {
  const int on = 1;
  PCHECK(setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
}

void SleepUntil(absl::Time time) {
  const absl::Duration left = time - MonotonicNow();
  if (left > kShortestSleep) absl::SleepFor(left);
}

bool WriteAll(int socket, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t size =
        send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) return false;
    sent += size;
  }
  return true;
}

// What has left a wire's beginning and not arrived yet. Thread-safe.
class InFlight {
 public:
  // No bytes: the sender has ended.
  void Push(std::string bytes, absl::Time arrives_at) {
    MutexLock lock(mutex_);
    while (pieces_.size() >= kMaxPieces) {
      changed_.WaitFor(mutex_, absl::Seconds(1));
    }
    pieces_.push_back({std::move(bytes), arrives_at});
    changed_.NotifyAll();
  }
  std::string Pop() {
    Piece piece;
    {
      MutexLock lock(mutex_);
      while (pieces_.empty()) changed_.WaitFor(mutex_, absl::Seconds(1));
      piece = std::move(pieces_.front());
      pieces_.pop_front();
      changed_.NotifyAll();
    }
    SleepUntil(piece.arrives_at);
    return std::move(piece.bytes);
  }

 private:
  struct Piece {
    std::string bytes;
    absl::Time arrives_at;
  };
  Mutex mutex_;
  CondVar changed_;
  std::deque<Piece> pieces_ ABSL_GUARDED_BY(mutex_);
};

void ReadAll(int from, Wire& wire, InFlight& in_flight) {
  std::string piece;
  while (true) {
    piece.resize(kPiece);
    const ssize_t size = recv(from, piece.data(), piece.size(), 0);
    if (size <= 0) break;
    piece.resize(size);
    in_flight.Push(std::move(piece), wire.Send(size));
  }
  in_flight.Push("", MonotonicNow());
}

// Breaks the sender's connection if the receiver's is broken.
void Deliver(InFlight& in_flight, int from, int to) {
  bool is_open = true;
  for (std::string piece = in_flight.Pop(); !piece.empty();
       piece = in_flight.Pop()) {
    if (is_open && !WriteAll(to, piece)) {
      is_open = false;
      shutdown(from, SHUT_RDWR);
    }
  }
  shutdown(to, SHUT_WR);
}

// Carries one direction of a connection until its sender ends.
void Carry(int from, int to, Wire& wire) {
  InFlight in_flight;
  std::thread deliverer(
      [&in_flight, from, to] { Deliver(in_flight, from, to); });
  ReadAll(from, wire, in_flight);
  deliverer.join();
}

absl::Status ArgumentError(absl::string_view name, absl::string_view value,
                           absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": got \"", value, "\"; expected ", expected));
}

}  // namespace

absl::StatusOr<LinkSpeed> ReadLinkSpeed(absl::string_view megabits_per_second,
                                        absl::string_view latency_ms) {
  double megabits = 0;
  if (!absl::SimpleAtod(megabits_per_second, &megabits) || !(megabits > 0)) {
    return ArgumentError("MEGABITS_PER_SECOND", megabits_per_second,
                         "a number above 0");
  }
  double milliseconds = 0;
  if (!absl::SimpleAtod(latency_ms, &milliseconds) ||
      !std::isfinite(milliseconds) || milliseconds < 0) {
    return ArgumentError("LATENCY_MS", latency_ms, "a finite number from 0");
  }
  return LinkSpeed{.bytes_per_second = megabits * 1e6 / 8,
                   .latency = absl::Milliseconds(milliseconds)};
}

void Wire::set_speed(const LinkSpeed& speed) {
  MutexLock lock(mutex_);
  speed_ = speed;
}

absl::Time Wire::Send(size_t bytes) {
  absl::Time left_at = MonotonicNow();
  absl::Duration latency;
  {
    MutexLock lock(mutex_);
    const double seconds = static_cast<double>(bytes) / speed_.bytes_per_second;
    free_at_ = std::max(free_at_, left_at - kSlack) + absl::Seconds(seconds);
    left_at = std::max(left_at, free_at_);
    latency = speed_.latency;
  }
  SleepUntil(left_at);
  return left_at + latency;
}

Relay::Relay(const std::string& listens_on, const std::string& callee,
             const LinkSpeed& speed, const std::string& callee_netns)
    : callee_(callee),
      listener_(OpenListener(listens_on)),
      address_(absl::StrCat(listens_on.substr(0, listens_on.rfind(':')), ":",
                            listener_.port())) {
  set_speed(speed);
  acceptor_ = std::thread([this, callee_netns] { Accept(callee_netns); });
}

Relay::~Relay() {
  std::list<Connection> connections;
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    connections.swap(connections_);
  }
  for (const Connection& connection : connections) {
    shutdown(connection.caller.get(), SHUT_RDWR);
    shutdown(connection.callee.get(), SHUT_RDWR);
  }
  acceptor_.join();
  for (Connection& connection : connections) {
    connection.there.join();
    connection.back.join();
  }
}

void Relay::set_speed(const LinkSpeed& speed) {
  there_.set_speed(speed);
  back_.set_speed(speed);
}

void Relay::Accept(const std::string& callee_netns) {
  if (!callee_netns.empty()) {
    // Of this thread alone.
    const FileDescriptor netns(
        open(callee_netns.c_str(), O_RDONLY | O_CLOEXEC));
    PCHECK(setns(netns.get(), CLONE_NEWNET) == 0) << callee_netns;
  }
  while (true) {
    pollfd polled = {listener_.socket(), POLLIN, 0};
    poll(&polled, 1, kPollMilliseconds);
    absl::StatusOr<FileDescriptor> accepted = listener_.Accept();
    CHECK(accepted.ok() || absl::IsNotFound(accepted.status()))
        << accepted.status();
    FileDescriptor caller;
    FileDescriptor callee;
    if (accepted.ok()) {
      caller = *std::move(accepted);
      callee = ConnectTo(callee_, /*from=*/0, kConnectTimeout);
    }
    MutexLock lock(mutex_);
    if (is_stopping_) return;
    RemoveThoseEnded();
    // Where nobody listens, the caller sees its connection break.
    if (callee.is_open()) Start(std::move(caller), std::move(callee));
  }
}

void Relay::Start(FileDescriptor caller, FileDescriptor callee) {
  const int a = caller.get();
  const int b = callee.get();
  SendAtOnce(a);
  SendAtOnce(b);
  Connection& connection = connections_.emplace_back();
  connection.caller = std::move(caller);
  connection.callee = std::move(callee);
  connection.there = std::thread([this, a, b, &connection] {
    Carry(a, b, there_);
    --connection.open;
  });
  connection.back = std::thread([this, a, b, &connection] {
    Carry(b, a, back_);
    --connection.open;
  });
}

void Relay::RemoveThoseEnded() {
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (it->open > 0) {
      ++it;
      continue;
    }
    it->there.join();
    it->back.join();
    it = connections_.erase(it);
  }
}

}  // namespace paceline
