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
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/identity/mac.h"
#include "common/limits.h"
#include "common/net/socket_address.h"
#include "common/shared_memory/shared_region.h"
#include "common/tls/tls_tunnels.h"
#include "glog/logging.h"
#include "worker/collective/blamed_rank.h"
#include "worker/collective/handshake.h"
#include "worker/collective/shared_memory_transport.h"
#include "worker/collective/socket_transport.h"

namespace paceline {
namespace {

constexpr absl::Duration kRetryPause = absl::Milliseconds(50);
// Timeout for one attempt to connect.
constexpr absl::Duration kAttempt = absl::Seconds(5);
// Connections that may be unidentified at a time, in addition to one per rank.
// Above that the oldest is closed.
constexpr size_t kMaxStrangers = 64;

// Sends or receives all of `bytes`. Unavailable if the peer is gone or the
// attempt timed out.
absl::Status SendAll(int socket, absl::string_view bytes) {
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

absl::StatusOr<std::string> Receive(int socket, size_t size) {
  std::string bytes(size, '\0');
  RETURN_IF_ERROR(ReceiveAll(socket, absl::MakeSpan(&bytes[0], size)));
  return bytes;
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
    if (!connected.is_open()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot open a connection: ", std::strerror(errno)));
    }
    SetTimeouts(connected.get(), kAttempt);
    if (connect(connected.get(), each->ai_addr, each->ai_addrlen) == 0) {
      return connected;
    }
    status = absl::UnavailableError(std::strerror(errno));
  }
  return status;
}

// An accepted connection whose peer has not proven its identity yet.
struct Stranger {
  FileDescriptor socket;
  absl::Time deadline;
  // Before this end has answered: the part of the dialer's hello received so
  // far. Afterwards: both hellos.
  std::string received;
  std::string answered;
  Hello hello;

  // The size that `received` must reach before the next step.
  size_t expected_size() const {
    return kHelloSize + (answered.empty() ? 0 : kProofSize);
  }
};

// Connects one rank with the others of its group.
class Connector {
 public:
  Connector(const GroupOptions& options, const Listener* listener)
      : options_(options),
        listener_(listener),
        deadline_(MonotonicNow() + options.connect_timeout),
        sockets_(options.peers.size()),
        hellos_(options.peers.size()) {}

  absl::StatusOr<std::unique_ptr<Transport>> Connect() {
    if (!options_.tls.empty()) {
      ASSIGN_OR_RETURN(tunnels_, TlsTunnels::Make(options_.tls));
    }
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
    options.tunnels = std::move(tunnels_);
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

  // If there is no region, data is sent over sockets.
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

  std::string HelloTo(int rank) const {
    Hello hello;
    hello.from = static_cast<uint32_t>(options_.rank);
    hello.to = static_cast<uint32_t>(rank);
    hello.from_incarnation = peer(options_.rank).incarnation;
    hello.to_incarnation = peer(rank).incarnation;
    hello.job = options_.job;
    const std::string nonce = RandomBytes(hello.nonce.size());
    std::copy(nonce.begin(), nonce.end(), hello.nonce.begin());
    if (region_ != nullptr) {
      const auto reference = region_->reference();
      if (reference.ok()) hello.region = *reference;
    }
    return WriteHello(hello);
  }

  // OK if the hello comes from an expected peer and is meant for this rank;
  // else the reason why not.
  absl::Status Check(const Hello& hello) const {
    if (hello.job != options_.job) {
      return absl::PermissionDeniedError(
          absl::StrCat("it is of ", hello.job.ToString(),
                       "; this worker is of ", options_.job.ToString()));
    }
    if (hello.from >= static_cast<uint32_t>(world_size()) ||
        hello.from_incarnation != peer(hello.from).incarnation ||
        hello.to != static_cast<uint32_t>(options_.rank) ||
        hello.to_incarnation != peer(options_.rank).incarnation) {
      return absl::UnavailableError("it is not a member of this group");
    }
    return absl::OkStatus();
  }

  absl::Status CheckProof(absl::string_view proof, RingSide side,
                          absl::string_view dialers,
                          absl::string_view acceptors) const {
    if (IsSameMac(proof,
                  ProveHellos(options_.secret, side, dialers, acceptors))) {
      return absl::OkStatus();
    }
    return absl::UnauthenticatedError(
        "it does not prove that it belongs to the job");
  }

  absl::Status ConnectTo(int rank) {
    absl::Status refused;
    while (true) {
      absl::Status status = TryToConnect(rank);
      if (status.ok()) return status;
      // Report a refusal even if later attempts time out: it explains more than
      // their timeouts. The end of a connection (Aborted) may be one.
      if (absl::IsAborted(status) ? refused.ok()
                                  : !absl::IsUnavailable(status)) {
        refused = status;
      }
      if (!refused.ok()) status = refused;
      if (MonotonicNow() >= deadline_) {
        return WithBlamedRank(
            rank, absl::DeadlineExceededError(absl::StrCat(
                      peer(rank).name, " could not be reached within ",
                      absl::FormatDuration(options_.connect_timeout),
                      "; at last: ", status.message())));
      }
      absl::SleepFor(kRetryPause);
    }
  }

  absl::Status TryToConnect(int rank) {
    ASSIGN_OR_RETURN(FileDescriptor socket, Dial(peer(rank).address));
    // The peer may still be busy connecting to others. If this end gave up
    // earlier, the peer would find a dead connection in its queue.
    const absl::Duration patience =
        std::max(deadline_ - MonotonicNow(), kRetryPause);
    if (tunnels_ != nullptr) {
      ASSIGN_OR_RETURN(socket, tunnels_->Dial(std::move(socket),
                                              peer(rank).address, patience));
    }
    SetTimeouts(socket.get(), patience);
    const std::string mine = HelloTo(rank);
    RETURN_IF_ERROR(SendAll(socket.get(), mine));
    ASSIGN_OR_RETURN(const std::string answer,
                     Receive(socket.get(), kHelloSize + kProofSize));
    const absl::string_view hello =
        absl::string_view(answer).substr(0, kHelloSize);
    ASSIGN_OR_RETURN(const Hello theirs, ReadHello(hello));
    RETURN_IF_ERROR(Check(theirs));
    if (theirs.from != static_cast<uint32_t>(rank)) {
      return absl::UnavailableError("another rank answers at this address");
    }
    RETURN_IF_ERROR(CheckProof(absl::string_view(answer).substr(kHelloSize),
                               RingSide::kAcceptor, mine, hello));
    RETURN_IF_ERROR(
        SendAll(socket.get(),
                ProveHellos(options_.secret, RingSide::kDialer, mine, hello)));
    sockets_[rank] = std::move(socket);
    hellos_[rank] = theirs;
    return absl::OkStatus();
  }

  absl::Status AcceptLowerRanks() {
    CHECK(options_.rank == 0 || listener_ != nullptr);
    std::vector<Stranger> strangers;
    absl::Status exhausted;
    while (!MissingBelow().empty()) {
      const absl::Time now = MonotonicNow();
      if (now >= deadline_) {
        if (!exhausted.ok()) return exhausted;
        return MissingError();
      }
      Poll(strangers);
      for (size_t i = strangers.size(); i-- > 0;) {
        if (!Hear(strangers[i]) || strangers[i].deadline < now) {
          strangers.erase(strangers.begin() + static_cast<ptrdiff_t>(i));
        }
      }
      absl::StatusOr<FileDescriptor> accepted = Accept();
      exhausted = absl::IsResourceExhausted(accepted.status())
                      ? accepted.status()
                      : absl::OkStatus();
      // Pause, since poll would return at once: the listener stays readable
      // while there are no descriptors.
      if (!exhausted.ok()) absl::SleepFor(kRetryPause);
      if (!accepted.ok()) continue;
      if (strangers.size() >= kMaxStrangers + sockets_.size()) {
        strangers.erase(strangers.begin());
      }
      Stranger& stranger = strangers.emplace_back();
      stranger.socket = *std::move(accepted);
      stranger.deadline = now + limits::kGreetingTimeout;
      SetTimeouts(stranger.socket.get(), kAttempt);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<FileDescriptor> Accept() {
    ASSIGN_OR_RETURN(FileDescriptor accepted, listener_->Accept());
    if (tunnels_ == nullptr) return accepted;
    return tunnels_->Accept(std::move(accepted));
  }

  // Waits until a peer connects or sends something, for a short time at most.
  void Poll(const std::vector<Stranger>& strangers) const {
    std::vector<pollfd> polled = {{listener_->socket(), POLLIN, 0}};
    for (const Stranger& each : strangers) {
      polled.push_back({each.socket.get(), POLLIN, 0});
    }
    poll(polled.data(), polled.size(),
         static_cast<int>(absl::ToInt64Milliseconds(kRetryPause)));
  }

  // The lower ranks that have not connected yet.
  std::vector<int> MissingBelow() const {
    std::vector<int> missing;
    for (int rank = 0; rank < options_.rank; ++rank) {
      if (!sockets_[rank].is_open()) missing.push_back(rank);
    }
    return missing;
  }

  // Blames the highest missing rank: each rank connects to the ranks after it
  // in ascending order, so lower ranks may be waiting for this one.
  absl::Status MissingError() const {
    const std::vector<int> missing = MissingBelow();
    const std::string names = absl::StrJoin(
        missing, ", ",
        [this](std::string* out, int rank) { out->append(peer(rank).name); });
    return WithBlamedRank(missing.back(),
                          absl::DeadlineExceededError(absl::StrCat(
                              names, " did not connect within ",
                              absl::FormatDuration(options_.connect_timeout))));
  }

  // Reads what has arrived on a connection. Returns false if the connection is
  // settled: refused, or accepted as a rank's.
  bool Hear(Stranger& stranger) {
    while (true) {
      std::array<char, kHelloSize> bytes;
      const size_t missing =
          stranger.expected_size() - stranger.received.size();
      const ssize_t got = recv(stranger.socket.get(), bytes.data(),
                               std::min(missing, bytes.size()), MSG_DONTWAIT);
      if (got < 0) return errno == EAGAIN || errno == EINTR;
      if (got == 0) return false;
      stranger.received.append(bytes.data(), static_cast<size_t>(got));
      if (stranger.received.size() < stranger.expected_size()) continue;
      const bool is_greeted = !stranger.answered.empty();
      const absl::Status status =
          is_greeted ? Admit(stranger) : Greet(stranger);
      if (status.ok() && !is_greeted) continue;
      LOG_IF(WARNING, !status.ok())
          << "turned a connection away: " << status.message();
      return false;
    }
  }

  // Answers a dialer's hello with this rank's hello and proof.
  absl::Status Greet(Stranger& stranger) {
    ASSIGN_OR_RETURN(stranger.hello, ReadHello(stranger.received));
    RETURN_IF_ERROR(Check(stranger.hello));
    const uint32_t rank = stranger.hello.from;
    if (rank >= static_cast<uint32_t>(options_.rank)) {
      return absl::UnavailableError("only lower ranks connect to this rank");
    }
    stranger.answered = HelloTo(static_cast<int>(rank));
    return SendAll(
        stranger.socket.get(),
        absl::StrCat(stranger.answered,
                     ProveHellos(options_.secret, RingSide::kAcceptor,
                                 stranger.received, stranger.answered)));
  }

  // Checks the dialer's proof, which has arrived.
  absl::Status Admit(Stranger& stranger) {
    const absl::string_view received = stranger.received;
    RETURN_IF_ERROR(CheckProof(received.substr(kHelloSize), RingSide::kDialer,
                               received.substr(0, kHelloSize),
                               stranger.answered));
    const uint32_t rank = stranger.hello.from;
    sockets_[rank] = std::move(stranger.socket);
    hellos_[rank] = stranger.hello;
    return absl::OkStatus();
  }

  // Null if the ranks have agreed to use sockets.
  absl::StatusOr<std::unique_ptr<Transport>> TrySharedMemory() {
    absl::StatusOr<std::unique_ptr<SharedMemoryTransport>> transport =
        MakeSharedMemory();
    const std::string mine(1, transport.ok() ? 1 : 0);
    bool all = transport.ok();
    for (int rank = 0; rank < world_size(); ++rank) {
      if (rank == options_.rank) continue;
      RETURN_IF_ERROR(WithBlamedRank(
          rank,
          Annotate(SendAll(sockets_[rank].get(), mine), peer(rank).name)));
    }
    for (int rank = 0; rank < world_size(); ++rank) {
      if (rank == options_.rank) continue;
      const int socket = sockets_[rank].get();
      // A peer may still be waiting for other ranks.
      SetTimeouts(socket, std::max(deadline_ - MonotonicNow(), kRetryPause));
      const absl::StatusOr<std::string> theirs = Receive(socket, 1);
      if (!theirs.ok()) {
        return WithBlamedRank(
            rank, absl::UnavailableError(absl::StrCat(peer(rank).name, " ",
                                                      theirs.status().message(),
                                                      ", while connecting")));
      }
      all = all && theirs->front() == 1;
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
  const Listener* const listener_;
  const absl::Time deadline_;
  // Outlives the sockets. Null: they are plain.
  std::unique_ptr<TlsTunnels> tunnels_;
  SharedMemoryTransport::RegionPtr region_;
  // By rank.
  std::vector<FileDescriptor> sockets_;
  std::vector<Hello> hellos_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> ConnectGroup(
    const GroupOptions& options, const Listener* listener) {
  return Connector(options, listener).Connect();
}

}  // namespace paceline
