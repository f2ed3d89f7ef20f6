#include "tests/unit/session/resetting_proxy.h"

#include <arpa/inet.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

constexpr int kPollMilliseconds = 1;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Its closing sends a reset.
void ResetOnClose(const FileDescriptor& socket) {
  const linger now = {1, 0};
  PCHECK(setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)) ==
         0);
}

}  // namespace

ResettingProxy::ResettingProxy(int port, int from)
    : port_(port),
      from_(from),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  PCHECK(bind(listener_.get(), generic, size) == 0);
  PCHECK(listen(listener_.get(), SOMAXCONN) == 0);
  PCHECK(getsockname(listener_.get(), generic, &size) == 0);
  address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
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
    std::vector<pollfd> polled = {{listener_.get(), POLLIN, 0}};
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
  FileDescriptor caller(accept(listener_.get(), nullptr, nullptr));
  FileDescriptor callee(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (from_ != 0) {
    const int on = 1;
    setsockopt(callee.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const sockaddr_in own = Loopback(from_);
    PCHECK(bind(callee.get(), reinterpret_cast<const sockaddr*>(&own),
                sizeof(own)) == 0);
  }
  sockaddr_in address = Loopback(port_);
  if (connect(callee.get(), reinterpret_cast<sockaddr*>(&address),
              sizeof(address)) != 0) {
    return;
  }
  connections_.push_back({std::move(caller), std::move(callee)});
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
