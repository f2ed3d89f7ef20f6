// Compares all-reduce between processes of this machine: ours, through shared
// memory, over TCP, or over gRPC, against Gloo's over TCP.
//
// Each iteration is a pair: some all-reduces of ours, then as many of Gloo's.
// `ratio` is Gloo's time over ours; read its median and quartiles over the
// repetitions. `bytes_per_second` is ours: bytes of the values over the time of
// one all-reduce.
#include <benchmark/benchmark.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "tests/benchmark/peers/gloo_all_reduce.h"
#include "tests/benchmark/peers/grpc_transport.h"
#include "tests/benchmark/quantiles.h"
#include "worker/collective/collectives.h"
#include "worker/collective/connect_group.h"
#include "worker/collective/shared_memory_transport.h"

namespace paceline {
namespace {

constexpr size_t kMaxBytes = 64 << 20;
constexpr int kPairs = 5;
constexpr absl::Duration kTimeout = absl::Seconds(60);

enum class Algorithm { kSharedMemory, kSockets, kGrpc, kGloo, kCount };

// What rank 0 tells the others to do.
struct Command {
  Algorithm algorithm = Algorithm::kCount;
  size_t bytes = 0;
  int count = 0;
};

// One rank of a group, with a transport of each kind.
class Rank {
 public:
  Rank(std::vector<GroupPeer> peers, int rank, const Listener& listener,
       std::vector<std::string> grpc_addresses, const std::string& gloo_folder)
      : values_(kMaxBytes / sizeof(float), 1.0F),
        gloo_(gloo_folder, rank, static_cast<int>(peers.size())),
        grpc_(std::move(grpc_addresses), rank) {
    GroupOptions options;
    options.rank = rank;
    options.peers = std::move(peers);
    options.connect_timeout = kTimeout;
    options.timeout = kTimeout;
    options.region = *SharedMemoryTransport::MakeRegion(
        rank, static_cast<int>(options.peers.size()), kMaxBytes);
    const auto cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (static_cast<int>(options.peers.size()) <= cores) {
      options.spin = absl::Microseconds(200);
    }
    shared_ = Connect(options, listener);
    shared_collectives_.emplace(*shared_);
    options.use_shared_memory = false;
    sockets_ = Connect(options, listener);
    sockets_collectives_.emplace(*sockets_);
  }

  void Run(const Command& command) {
    for (int i = 0; i < command.count; ++i)
      Run(command.algorithm, command.bytes);
  }

 private:
  static std::unique_ptr<Transport> Connect(const GroupOptions& options,
                                            const Listener& listener) {
    auto transport = ConnectGroup(options, &listener);
    CHECK(transport.ok()) << transport.status();
    return *std::move(transport);
  }

  void Run(Algorithm algorithm, size_t bytes) {
    const size_t count = bytes / sizeof(float);
    const absl::Span<float> values = absl::MakeSpan(values_).first(count);
    if (algorithm == Algorithm::kGloo) return gloo_.Run(values);
    absl::Status status;
    if (algorithm == Algorithm::kSockets) {
      status = sockets_collectives_->AllReduce(values);
    } else if (algorithm == Algorithm::kGrpc) {
      status = grpc_collectives_.AllReduce(values);
    } else {
      // As gradients do, the values lie in shared memory from the start.
      auto* payload = reinterpret_cast<float*>(
          static_cast<SharedMemoryTransport&>(*shared_).payload().data());
      status = shared_collectives_->AllReduce(absl::MakeSpan(payload, count));
    }
    CHECK(status.ok()) << status;
  }

  std::vector<float> values_;
  peers::GlooAllReduce gloo_;
  peers::GrpcTransport grpc_;
  Collectives grpc_collectives_{grpc_};
  std::unique_ptr<Transport> shared_;
  std::unique_ptr<Transport> sockets_;
  std::optional<Collectives> shared_collectives_;
  std::optional<Collectives> sockets_collectives_;
};

// A group of processes, in which this process has rank 0.
class Group {
 public:
  // Forks the other ranks, which wait until this one connects.
  explicit Group(int world_size) {
    CHECK(mkdtemp(folder_.data()) != nullptr);
    for (int rank = 0; rank < world_size; ++rank) {
      auto listener = Listener::Open("127.0.0.1:0");
      CHECK(listener.ok()) << listener.status();
      peers_.push_back({absl::StrCat("rank ", rank),
                        absl::StrCat("127.0.0.1:", listener->port()),
                        static_cast<uint64_t>(rank + 1)});
      listeners_.push_back(*std::move(listener));
      // Only finds a free port, to which gRPC binds later.
      const auto reserved = Listener::Open("127.0.0.1:0");
      CHECK(reserved.ok()) << reserved.status();
      grpc_addresses_.push_back(absl::StrCat("127.0.0.1:", reserved->port()));
    }
    for (int rank = 1; rank < world_size; ++rank) {
      int ends[2];
      PCHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
      if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        Obey(Rank(peers_, rank, listeners_[rank], grpc_addresses_, folder_),
             ends[1]);
      }
      close(ends[1]);
      children_.push_back(ends[0]);
    }
  }

  void Connect() {
    self_ = std::make_unique<Rank>(peers_, 0, listeners_[0], grpc_addresses_,
                                   folder_);
    std::filesystem::remove_all(folder_);
  }

  // Seconds of one all-reduce.
  double TimeOf(const Command& command) {
    Command warm_up = command;
    warm_up.count = 1;
    Run(warm_up);
    const auto start = std::chrono::steady_clock::now();
    Run(command);
    const std::chrono::duration<double> duration =
        std::chrono::steady_clock::now() - start;
    return duration.count() / command.count;
  }

 private:
  [[noreturn]] static void Obey(Rank rank, int socket) {
    Command command;
    while (recv(socket, &command, sizeof(command), 0) == sizeof(command)) {
      rank.Run(command);
    }
    _exit(0);
  }

  void Run(const Command& command) {
    for (const int child : children_) {
      PCHECK(send(child, &command, sizeof(command), 0) == sizeof(command));
    }
    self_->Run(command);
  }

  std::string folder_ = "/tmp/ring_benchmark-XXXXXX";
  std::vector<GroupPeer> peers_;
  std::vector<Listener> listeners_;
  std::vector<std::string> grpc_addresses_;
  std::vector<int> children_;
  std::unique_ptr<Rank> self_;
};

// The number of all-reduces that take the faster side about 50 ms.
int CountFor(size_t bytes) {
  if (bytes <= 64 << 10) return 1000;
  return static_cast<int>(std::max<size_t>(3, (64 << 20) / bytes / 2));
}

void AgainstGloo(benchmark::State& state, Group& group, Algorithm algorithm) {
  Command command;
  command.bytes = static_cast<size_t>(state.range(0));
  command.count = CountFor(command.bytes);
  double ours = 0;
  double gloo = 0;
  for ([[maybe_unused]] auto _ : state) {
    command.algorithm = algorithm;
    ours += group.TimeOf(command);
    command.algorithm = Algorithm::kGloo;
    gloo += group.TimeOf(command);
  }
  const auto pairs = static_cast<double>(state.iterations());
  state.counters["ours_us"] = ours / pairs * 1e6;
  state.counters["gloo_us"] = gloo / pairs * 1e6;
  state.counters["ratio"] = gloo / ours;
  state.counters["bytes_per_second"] =
      static_cast<double>(command.bytes) * pairs / ours;
}

void Register(const std::string& name, Group& group, Algorithm algorithm) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [&group, algorithm](benchmark::State& state) {
                                 AgainstGloo(state, group, algorithm);
                               })
      ->ArgName("bytes")
      ->Arg(1 << 10)
      ->Arg(64 << 10)
      ->Arg(1 << 20)
      ->Arg(4 << 20)
      ->Arg(16 << 20)
      ->Arg(64 << 20)
      ->UseRealTime()
      ->Iterations(1)
      ->Repetitions(kPairs)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("quartile1", Quartile1)
      ->ComputeStatistics("quartile3", Quartile3);
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  using paceline::Algorithm;
  benchmark::Initialize(&argc, argv);
  // Fork all processes before the first thread starts.
  std::map<int, std::unique_ptr<paceline::Group>> groups;
  for (const int size : {2, 4}) {
    groups[size] = std::make_unique<paceline::Group>(size);
  }
  for (const auto& [size, group] : groups) {
    group->Connect();
    paceline::Register(absl::StrCat("SharedMemory/P:", size), *group,
                       Algorithm::kSharedMemory);
    paceline::Register(absl::StrCat("Sockets/P:", size), *group,
                       Algorithm::kSockets);
    paceline::Register(absl::StrCat("Grpc/P:", size), *group, Algorithm::kGrpc);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  std::exit(0);
}
