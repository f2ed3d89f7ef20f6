#include "worker/collective/connect_group.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/shared_memory/shared_region.h"
#include "glog/logging.h"
#include "worker/collective/shared_memory_transport.h"
#include "worker/collective/socket_address.h"
#include "worker/collective/socket_transport.h"

namespace paceline {
namespace {

constexpr absl::Duration kRetryPause = absl::Milliseconds(50);
// For one connection to be made, or to say who it is.
constexpr absl::Duration kAttempt = absl::Seconds(5);

// What both ends of a connection send first; little endian.
struct Hello {
  std::array<char, 8> magic = {'P', 'A', 'C', 'E', 'R', 'I', 'N', 'G'};
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  // The sender's; process 0: there is none.
  RegionReference region;
};

// Sends or receives all of `bytes`; Unavailable if the peer is gone or takes
// longer than an attempt may.
absl::Status SendAll(int socket, absl::Span<const char> bytes) {
  const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(bytes.size())) return absl::OkStatus();
  return absl::UnavailableError("the connection was closed");
}
absl::Status ReceiveAll(int socket, absl::Span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return absl::UnavailableError(got == 0 ? "closed the connection"
                                             : "did not answer in time");
    }
    bytes.remove_prefix(static_cast<size_t>(got));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Span<char> BytesOf(T& value) {
  return {reinterpret_cast<char*>(&value), sizeof(value)};
}

void SetTimeouts(int socket, absl::Duration duration) {
  const timeval timeout = absl::ToTimeval(duration);
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

absl::StatusOr<FileDescriptor> Dial(const std::string& address) {
  ASSIGN_OR_RETURN(const SocketAddresses found, Resolve(address, /*flags=*/0));
  absl::Status status;
  for (const addrinfo* each = found.get(); each != nullptr;
       each = each->ai_next) {
    FileDescriptor connected(
        socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    SetTimeouts(connected.get(), kAttempt);
    if (connect(connected.get(), each->ai_addr, each->ai_addrlen) == 0) {
      return connected;
    }
    status = absl::UnavailableError(std::strerror(errno));
  }
  return status;
}

// One rank's side of the making of a group.
class Connector {
 public:
  Connector(const GroupOptions& options, const GroupListener* listener)
      : options_(options),
        listener_(listener),
        deadline_(MonotonicNow() + options.connect_timeout),
        sockets_(options.peers.size()),
        hellos_(options.peers.size()) {}

  absl::StatusOr<std::unique_ptr<Transport>> Connect() {
    if (options_.use_shared_memory) MakeRegion();
    for (int rank = options_.rank + 1; rank < world_size(); ++rank) {
      RETURN_IF_ERROR(ConnectTo(rank));
    }
    RETURN_IF_ERROR(AcceptLowerRanks());
    ASSIGN_OR_RETURN(std::unique_ptr<Transport> shared, TrySharedMemory());
    if (shared != nullptr) return shared;
    SocketOptions options;
    options.rank = options_.rank;
    options.names = Names();
    options.timeout = options_.timeout;
    return SocketTransport::Create(std::move(options), std::move(sockets_));
  }

 private:
  int world_size() const { return static_cast<int>(options_.peers.size()); }
  const GroupPeer& peer(int rank) const { return options_.peers[rank]; }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const GroupPeer& each : options_.peers) names.push_back(each.name);
    return names;
  }

  // Without one, data goes over sockets.
  void MakeRegion() {
    region_ = options_.region;
    if (region_ != nullptr) return;
    auto region = SharedMemoryTransport::MakeRegion(options_.rank, world_size(),
                                                    /*payload_size=*/0);
    if (region.ok()) {
      region_ = *std::move(region);
    } else {
      LOG(WARNING) << region.status().message();
    }
  }

  Hello HelloTo(int rank) const {
    Hello hello;
    hello.from = static_cast<uint32_t>(options_.rank);
    hello.to = static_cast<uint32_t>(rank);
    hello.from_incarnation = peer(options_.rank).incarnation;
    hello.to_incarnation = peer(rank).incarnation;
    if (region_ == nullptr) return hello;
    const auto reference = region_->reference();
    if (reference.ok()) hello.region = *reference;
    return hello;
  }

  // Whether a hello comes from an expected peer, and is meant for this rank.
  bool IsExpected(const Hello& hello) const {
    return hello.magic == Hello().magic &&
           hello.from < static_cast<uint32_t>(world_size()) &&
           hello.from_incarnation == peer(hello.from).incarnation &&
           hello.to == static_cast<uint32_t>(options_.rank) &&
           hello.to_incarnation == peer(options_.rank).incarnation;
  }

  absl::Status ConnectTo(int rank) {
    while (true) {
      absl::Status status = TryToConnect(rank);
      if (status.ok()) return status;
      if (MonotonicNow() >= deadline_) {
        return absl::DeadlineExceededError(
            absl::StrCat(peer(rank).name, " could not be reached within ",
                         absl::FormatDuration(options_.connect_timeout),
                         "; at last: ", status.message()));
      }
      absl::SleepFor(kRetryPause);
    }
  }

  absl::Status TryToConnect(int rank) {
    ASSIGN_OR_RETURN(FileDescriptor socket, Dial(peer(rank).address));
    // The peer may still be connecting to others. To give up on it earlier
    // would leave a dead connection in its queue.
    SetTimeouts(socket.get(),
                std::max(deadline_ - MonotonicNow(), kRetryPause));
    Hello mine = HelloTo(rank);
    RETURN_IF_ERROR(SendAll(socket.get(), BytesOf(mine)));
    Hello theirs;
    RETURN_IF_ERROR(ReceiveAll(socket.get(), BytesOf(theirs)));
    if (!IsExpected(theirs) || theirs.from != static_cast<uint32_t>(rank)) {
      return absl::UnavailableError("somebody else answers there");
    }
    sockets_[rank] = std::move(socket);
    hellos_[rank] = theirs;
    return absl::OkStatus();
  }

  absl::Status AcceptLowerRanks() {
    CHECK(options_.rank == 0 || listener_ != nullptr);
    std::vector<FileDescriptor> strangers;
    while (!MissingBelow().empty()) {
      const absl::Duration left = deadline_ - MonotonicNow();
      if (left <= absl::ZeroDuration()) {
        return absl::DeadlineExceededError(
            absl::StrCat(MissingBelow(), " did not connect within ",
                         absl::FormatDuration(options_.connect_timeout)));
      }
      std::vector<pollfd> polled = {{listener_->socket(), POLLIN, 0}};
      for (const FileDescriptor& each : strangers) {
        polled.push_back({each.get(), POLLIN, 0});
      }
      poll(polled.data(), polled.size(),
           static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
      for (size_t i = polled.size() - 1; i > 0; --i) {
        if (polled[i].revents == 0) continue;
        Greet(std::move(strangers[i - 1]));
        strangers.erase(strangers.begin() + static_cast<ptrdiff_t>(i) - 1);
      }
      if (polled[0].revents == 0) continue;
      FileDescriptor accepted(
          accept4(listener_->socket(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!accepted.is_open()) continue;
      SetTimeouts(accepted.get(), kAttempt);
      // So that a stranger that stops in the middle holds nobody up.
      const int whole = sizeof(Hello);
      setsockopt(accepted.get(), SOL_SOCKET, SO_RCVLOWAT, &whole,
                 sizeof(whole));
      strangers.push_back(std::move(accepted));
    }
    return absl::OkStatus();
  }

  // The names of lower ranks that are not connected yet.
  std::string MissingBelow() const {
    std::string names;
    for (int rank = 0; rank < options_.rank; ++rank) {
      if (sockets_[rank].is_open()) continue;
      absl::StrAppend(&names, names.empty() ? "" : ", ", peer(rank).name);
    }
    return names;
  }

  void Greet(FileDescriptor socket) {
    Hello theirs;
    if (!ReceiveAll(socket.get(), BytesOf(theirs)).ok()) return;
    if (!IsExpected(theirs) ||
        theirs.from >= static_cast<uint32_t>(options_.rank)) {
      LOG(WARNING) << "turned away a connection that is from none of the group";
      return;
    }
    const int rank = static_cast<int>(theirs.from);
    Hello mine = HelloTo(rank);
    if (!SendAll(socket.get(), BytesOf(mine)).ok()) return;
    sockets_[rank] = std::move(socket);
    hellos_[rank] = theirs;
  }

  // Null if the ranks have agreed on sockets.
  absl::StatusOr<std::unique_ptr<Transport>> TrySharedMemory() {
    absl::StatusOr<std::unique_ptr<SharedMemoryTransport>> transport =
        MakeSharedMemory();
    char mine = transport.ok() ? 1 : 0;
    bool all = transport.ok();
    for (int rank = 0; rank < world_size(); ++rank) {
      if (rank == options_.rank) continue;
      RETURN_IF_ERROR(Annotate(SendAll(sockets_[rank].get(), BytesOf(mine)),
                               peer(rank).name));
    }
    for (int rank = 0; rank < world_size(); ++rank) {
      if (rank == options_.rank) continue;
      const int socket = sockets_[rank].get();
      // A peer may still be waiting for others.
      SetTimeouts(socket, std::max(deadline_ - MonotonicNow(), kRetryPause));
      const int one = 1;
      setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
      char theirs = 0;
      const absl::Status status = ReceiveAll(socket, BytesOf(theirs));
      if (!status.ok()) {
        return absl::UnavailableError(absl::StrCat(
            peer(rank).name, " ", status.message(), ", while connecting"));
      }
      all = all && theirs == 1;
    }
    if (!all) {
      LOG(INFO) << "data goes over sockets: "
                << (transport.ok() ? "a peer shares no memory"
                                   : transport.status().message());
      return nullptr;
    }
    LOG(INFO) << "data goes through shared memory";
    return *std::move(transport);
  }

  absl::StatusOr<std::unique_ptr<SharedMemoryTransport>> MakeSharedMemory() {
    ASSIGN_OR_RETURN(std::vector<SharedMemoryTransport::RegionPtr> regions,
                     OpenRegions());
    SharedMemoryOptions options;
    options.rank = options_.rank;
    options.names = Names();
    options.timeout = options_.timeout;
    options.spin = options_.spin;
    return SharedMemoryTransport::Create(std::move(options),
                                         std::move(regions));
  }

  absl::StatusOr<std::vector<SharedMemoryTransport::RegionPtr>> OpenRegions() {
    if (region_ == nullptr) {
      return absl::UnavailableError("this rank has no shared memory");
    }
    std::vector<SharedMemoryTransport::RegionPtr> regions;
    for (int rank = 0; rank < world_size(); ++rank) {
      if (rank == options_.rank) {
        regions.push_back(region_);
        continue;
      }
      absl::StatusOr<SharedRegion> region =
          SharedRegion::Open(hellos_[rank].region);
      if (!region.ok()) return Annotate(region.status(), peer(rank).name);
      regions.push_back(
          std::make_shared<const SharedRegion>(*std::move(region)));
    }
    return regions;
  }

  const GroupOptions& options_;
  const GroupListener* const listener_;
  const absl::Time deadline_;
  SharedMemoryTransport::RegionPtr region_;
  // By rank.
  std::vector<FileDescriptor> sockets_;
  std::vector<Hello> hellos_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> ConnectGroup(
    const GroupOptions& options, const GroupListener* listener) {
  return Connector(options, listener).Connect();
}

}  // namespace paceline
