#include "tests/unit/session/resetting_proxy.h"

#include <glog/logging.h>
#include <poll.h>
#include <sys/socket.h>

#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/connect_to.h"

namespace paceline {
namespace {

constexpr int kPollMilliseconds = 1;

// Its closing sends a reset.
void ResetOnClose(const FileDescriptor& socket) {
  const linger now = {1, 0};
  PCHECK(setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)) ==
         0);
}

}  // namespace

ResettingProxy::ResettingProxy(int port, int from)
    : callee_(absl::StrCat("127.0.0.1:", port)),
      from_(from),
      listener_(*Listener::Open("127.0.0.1:0")),
      address_(absl::StrCat("127.0.0.1:", listener_.port())) {
  thread_ = std::thread([this] { Run(); });
}

ResettingProxy::~ResettingProxy() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  thread_.join();
}

void ResettingProxy::Reset() {
  MutexLock lock(mutex_);
  is_reset_wanted_ = true;
  while (is_reset_wanted_) changed_.WaitFor(mutex_, absl::Seconds(1));
}

void ResettingProxy::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (is_stopping_) return;
      if (std::exchange(is_reset_wanted_, false)) {
        ResetConnections();
        changed_.NotifyAll();
      }
    }
    std::vector<pollfd> polled = {{listener_.socket(), POLLIN, 0}};
    for (const Connection& connection : connections_) {
      polled.push_back({connection.caller.get(), POLLIN, 0});
      polled.push_back({connection.callee.get(), POLLIN, 0});
    }
    if (poll(polled.data(), polled.size(), kPollMilliseconds) <= 0) continue;
    size_t at = 1;
    for (auto it = connections_.begin(); it != connections_.end(); at += 2) {
      const bool goes_on =
          (polled[at].revents == 0 || Carry(it->caller, it->callee)) &&
          (polled[at + 1].revents == 0 || Carry(it->callee, it->caller));
      it = goes_on ? std::next(it) : connections_.erase(it);
    }
    if (polled[0].revents != 0) Accept();
  }
}

void ResettingProxy::Accept() {
  absl::StatusOr<FileDescriptor> caller = listener_.Accept();
  if (!caller.ok()) return;
  FileDescriptor callee = ConnectTo(callee_, from_);
  if (!callee.is_open()) return;
  connections_.push_back({*std::move(caller), std::move(callee)});
}

bool ResettingProxy::Carry(const FileDescriptor& from,
                           const FileDescriptor& to) {
  std::vector<char> bytes(64 << 10);
  const ssize_t size = recv(from.get(), bytes.data(), bytes.size(), 0);
  return size > 0 && send(to.get(), bytes.data(), static_cast<size_t>(size),
                          MSG_NOSIGNAL) == size;
}

void ResettingProxy::ResetConnections() {
  for (const Connection& connection : connections_) {
    ResetOnClose(connection.caller);
    ResetOnClose(connection.callee);
  }
  connections_.clear();
}

}  // namespace paceline
