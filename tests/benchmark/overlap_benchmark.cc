// Measures how much of a slow network is hidden behind backward. Each benchmark
// injects delays into the network. `growth` is the increase of the step time
// over the sum of the step's delays: the lower, the more is hidden.
//
//  * AllReduce: two replicas, with a delay of 5 ms per bucket.
//  * ParameterServer: a worker and a server. Pushes arrive one after the other,
//    each with the same delay. The delays of a step add up to 40 % of the step
//    time without delays.
#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/mutex.h"
#include "common/rpc/rpc_server.h"
#include "common/rpc/rpc_service.h"
#include "paceline/v1/ps.grpc.pb.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/benchmark/overlap_replica.h"
#include "tests/benchmark/quantiles.h"
#include "tests/conformance/forwarding_transport.h"
#include "tests/test_identity.h"
#include "worker/collective/memory_transport.h"
#include "worker/strategy/all_reduce.h"
#include "worker/strategy/parameter_server.h"

namespace paceline {
namespace {

constexpr int kReplicas = 2;
constexpr int kSteps = 10;
constexpr int kPairs = 5;
constexpr absl::Duration kDelay = absl::Milliseconds(5);
constexpr double kInjectedShare = 0.4;
constexpr absl::Duration kTimeout = absl::Seconds(60);

// Delays large messages.
class SlowTransport final : public ForwardingTransport {
 public:
  explicit SlowTransport(std::unique_ptr<Transport> transport)
      : ForwardingTransport(std::move(transport)) {}

  // The delay of each large message from now on.
  void set_delay(absl::Duration delay) { delay_ = delay; }
  int64_t large_count() const { return large_count_; }

  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override {
    constexpr size_t kLarge = 1 << 20;
    if (out.size() >= kLarge) {
      ++large_count_;
      if (delay_ > absl::ZeroDuration()) absl::SleepFor(delay_);
    }
    return ForwardingTransport::Exchange(to, out, from, in_size, sink);
  }

 private:
  absl::Duration delay_;
  int64_t large_count_ = 0;
};

// One replica of all-reduce.
class Member {
 public:
  Member(const v1::Job& job, std::unique_ptr<Transport> transport)
      : transport_(std::move(transport)),
        replica_(job, /*holds_variables=*/true) {
    AllReduceOptions options;
    options.on_waiting = [](const std::string&) {};
    strategy_ = std::make_unique<AllReduceStrategy>(
        std::move(options), transport_, replica_->plan, *replica_->variables,
        *replica_->state, *replica_->stream);
    CheckOk(strategy_->PullVariables());
  }

  SlowTransport& transport() { return transport_; }
  int bucket_count() const {
    return static_cast<int>(replica_->plan.layout().updated_buckets().size());
  }
  void Step() { replica_.Step(*strategy_, kReplicas); }

 private:
  SlowTransport transport_;
  OverlapReplica replica_;
  std::unique_ptr<AllReduceStrategy> strategy_;
};

// The mean seconds of a step in which all members take part.
template <typename T>
double TimeSteps(std::vector<std::unique_ptr<T>>& members) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (const auto& member : members) {
    threads.emplace_back([&member] {
      for (int step = 0; step < kSteps; ++step) member->Step();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> duration =
      std::chrono::steady_clock::now() - start;
  return duration.count() / kSteps;
}

// `plain` and `slow` are the step times without and with delays, `injected` is
// the delays; all in seconds, summed over the iterations.
void Report(benchmark::State& state, double plain, double slow,
            double injected) {
  const auto pairs = static_cast<double>(state.iterations());
  state.counters["step_ms"] = plain / pairs * 1e3;
  state.counters["slow_step_ms"] = slow / pairs * 1e3;
  state.counters["growth"] = (slow - plain) / injected;
}

void AllReduce(benchmark::State& state) {
  const v1::Job job = OverlapJob("strategy: mirrored\ndevices: 2\n");
  MemoryGroup group(kReplicas, kTimeout);
  std::vector<std::unique_ptr<Member>> members;
  for (int rank = 0; rank < kReplicas; ++rank) {
    members.push_back(std::make_unique<Member>(job, group.MakeTransport(rank)));
  }
  TimeSteps(members);
  const Member& first = *members.front();
  const int64_t messages_per_step =
      members.front()->transport().large_count() / kSteps;
  const double injected = absl::ToDoubleSeconds(kDelay) * first.bucket_count();
  const auto set_delay = [&](absl::Duration delay) {
    for (const auto& member : members) member->transport().set_delay(delay);
  };
  double plain = 0;
  double slow = 0;
  for ([[maybe_unused]] auto _ : state) {
    set_delay(absl::ZeroDuration());
    plain += TimeSteps(members);
    set_delay(kDelay * first.bucket_count() / messages_per_step);
    slow += TimeSteps(members);
  }
  state.counters["buckets"] = first.bucket_count();
  Report(state, plain, slow,
         injected * static_cast<double>(state.iterations()));
}

// A parameter server behind a wire on which each push takes some time.
class SlowService final : public RpcService {
 public:
  explicit SlowService(const RpcService& service)
      : RpcService(v1::ParameterServerService::service_full_name()) {
    for (const auto& [path, method] : service.methods()) {
      const std::string name = path.substr(path.rfind('/') + 1);
      RpcMethod delayed = method;
      if (name == "Push") {
        delayed.handle = [this, handle = method.handle](ServerCall& call) {
          Send([handle, &call] { handle(call); });
        };
      }
      Add(name, std::move(delayed));
    }
    wire_ = std::thread([this] { Run(); });
  }
  ~SlowService() override {
    Send(nullptr);
    wire_.join();
  }

  // The delay of each push from now on.
  void set_delay(absl::Duration delay) {
    MutexLock lock(mutex_);
    delay_ = delay;
  }

 private:
  void Send(std::function<void()> arrive) {
    MutexLock lock(mutex_);
    sent_.push_back(std::move(arrive));
    changed_.NotifyAll();
  }
  void Run() {
    while (true) {
      std::function<void()> arrive;
      absl::Duration delay;
      {
        MutexLock lock(mutex_);
        while (sent_.empty()) changed_.WaitFor(mutex_, absl::Seconds(1));
        arrive = std::move(sent_.front());
        sent_.pop_front();
        delay = delay_;
      }
      if (arrive == nullptr) return;
      if (delay > absl::ZeroDuration()) absl::SleepFor(delay);
      arrive();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  absl::Duration delay_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> sent_ ABSL_GUARDED_BY(mutex_);
  std::thread wire_;
};

// A worker and its server.
class PushingWorker {
 public:
  explicit PushingWorker(const v1::Job& job)
      : shard_(kIncarnation),
        service_(shard_),
        slow_service_(service_),
        replica_(job, /*holds_variables=*/false) {
    v1::InitializeRequest request;
    *request.mutable_job() = job;
    request.set_shard_count(1);
    request.set_workers(1);
    v1::InitializeResponse initialized;
    CheckOk(shard_.Initialize(request, initialized));
    auto server = StartTestServer("127.0.0.1:0", slow_service_);
    CHECK(server.ok()) << server.status();
    server_ = *std::move(server);
    ParameterServerOptions options;
    options.worker.set_incarnation(kIncarnation);
    options.caller = TestCaller();
    v1::Member& member = options.servers.emplace_back();
    member.set_incarnation(kIncarnation);
    member.set_address(absl::StrCat("127.0.0.1:", server_->port()));
    options.timeout = kTimeout;
    options.use_shared_memory = false;
    options.on_waiting = [](const std::string&) {};
    v1::AdmitRequest admission;
    *admission.add_workers() = options.worker;
    v1::AdmitResponse admitted;
    CheckOk(shard_.Admit(admission, admitted));
    strategy_ = std::make_unique<ParameterServerStrategy>(
        std::move(options), replica_->plan, *replica_->state,
        *replica_->stream);
    CheckOk(strategy_->PullVariables());
  }

  void Step() { replica_.Step(*strategy_, 1); }
  void set_delay(absl::Duration delay) { slow_service_.set_delay(delay); }
  size_t chunk_count() const { return replica_->plan.chunks(0).size(); }

 private:
  static constexpr uint64_t kIncarnation = 1;

  Shard shard_;
  PsService service_;
  SlowService slow_service_;
  std::unique_ptr<RpcServer> server_;
  OverlapReplica replica_;
  std::unique_ptr<ParameterServerStrategy> strategy_;
};

void ParameterServer(benchmark::State& state) {
  std::vector<std::unique_ptr<PushingWorker>> workers;
  workers.push_back(std::make_unique<PushingWorker>(
      OverlapJob("strategy: parameter_server\ncluster: {ps: 1, worker: 1}\n")));
  PushingWorker& worker = *workers.front();
  TimeSteps(workers);
  double plain = 0;
  double slow = 0;
  double injected = 0;
  for ([[maybe_unused]] auto _ : state) {
    worker.set_delay(absl::ZeroDuration());
    const double step = TimeSteps(workers);
    plain += step;
    injected += kInjectedShare * step;
    worker.set_delay(absl::Seconds(kInjectedShare * step) /
                     worker.chunk_count());
    slow += TimeSteps(workers);
  }
  state.counters["chunks"] = static_cast<double>(worker.chunk_count());
  Report(state, plain, slow, injected);
}

void InPairs(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()
      ->Iterations(1)
      ->Repetitions(kPairs)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("quartile1", Quartile1)
      ->ComputeStatistics("quartile3", Quartile3);
}
BENCHMARK(AllReduce)->Apply(InPairs);
BENCHMARK(ParameterServer)->Apply(InPairs);

}  // namespace
}  // namespace paceline

BENCHMARK_MAIN();
