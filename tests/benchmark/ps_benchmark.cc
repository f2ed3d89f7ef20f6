// Throughput of a parameter server: one worker pushes gradients, which the
// server applies with SGD, or pulls variables, through shared memory or over
// loopback, plain and over TLS. The server is a process of its own.
// `bytes_per_second` is the size of the variable over the time in which it is
// pushed or pulled once.
#include <benchmark/benchmark.h>
#include <glog/logging.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/freed_memory.h"
#include "common/base/simd.h"
#include "common/identity/job_secret.h"
#include "common/job/job_reader.h"
#include "common/limits.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "common/process/lock_checks.h"
#include "common/rpc/call_group.h"
#include "common/rpc/incarnation.h"
#include "common/rpc/ps_client.h"
#include "common/rpc/rpc_server.h"
#include "common/rpc/tls.h"
#include "common/sharding/shard_plan.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"
#include "tests/certificates/test_authority.h"
#include "tests/test_identity.h"

namespace paceline {
namespace {

constexpr uint64_t kIncarnation = 1;
constexpr absl::Duration kTimeout = absl::Seconds(60);

// Calls are authenticated, as in any job that has a secret.
JobSecret Secret() { return *JobSecret::FromText("of a job that is measured"); }

// A model of one variable.
v1::Job JobOf(int64_t elements) {
  JobReaderOptions reader;
  reader.check_files = false;
  const auto job = ReadJob(
      absl::StrCat("strategy: parameter_server\nmodel: {layers: [Input: {shape:"
                   " [1024]}, Dense: {units: ",
                   elements / 1024,
                   ", use_bias: false}]}\nloss: mse\noptimizer: SGD\n"
                   "data: {train: {idx: {features: f, labels: l}}}\n"
                   "batch_size_per_replica: 1\n"),
      "job", {}, reader);
  CHECK(job.ok()) << job.status();
  return *job;
}

enum class Way { kSharedMemory, kTcp, kTls };

absl::string_view NameOf(Way way) {
  switch (way) {
    case Way::kSharedMemory:
      return "shared";
    case Way::kTcp:
      return "tcp";
    case Way::kTls:
      return "tls";
  }
  return "";
}

std::shared_ptr<const Tls> Load(const TlsFiles& files) {
  const auto tls = Tls::Load(files);
  CHECK(tls.ok()) << tls.status();
  return *tls;
}

// A server in a process of its own, which ends with this one.
class ServerProcess {
 public:
  ServerProcess(int64_t elements, const TlsFiles& tls) {
    int ends[2];
    PCHECK(pipe(ends) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      Serve(elements, tls, ends[1]);
    }
    close(ends[1]);
    int port = 0;
    PCHECK(read(ends[0], &port, sizeof(port)) == sizeof(port));
    close(ends[0]);
    address_ = absl::StrCat("127.0.0.1:", port);
  }
  ~ServerProcess() { kill(pid_, SIGKILL); }

  const std::string& address() const { return address_; }

 private:
  [[noreturn]] static void Serve(int64_t elements, const TlsFiles& tls,
                                 int port_pipe) {
    FlushDenormals();
    Shard shard(kIncarnation);
    v1::InitializeRequest request;
    *request.mutable_job() = JobOf(elements);
    request.set_shard_count(1);
    request.set_workers(1);
    v1::InitializeResponse response;
    const absl::Status status = shard.Initialize(request, response);
    CHECK(status.ok()) << status;
    PsService service(shard);
    const auto server = StartTestServer("127.0.0.1:0", service, Secret(),
                                        /*thread_count=*/0, Load(tls));
    CHECK(server.ok()) << server.status();
    const int port = (*server)->port();
    PCHECK(write(port_pipe, &port, sizeof(port)) == sizeof(port));
    while (true) pause();
  }

  pid_t pid_ = 0;
  std::string address_;
};

// The worker: pushes and pulls the variable in its chunks, as
// ParameterServerStrategy does.
class Client {
 public:
  Client(const std::string& address, int64_t elements, bool use_shared_memory,
         std::shared_ptr<const Tls> tls)
      : client_(0, address, TestCaller(Secret(), std::move(tls)),
                OptionsOf(use_shared_memory)),
        plan_(PlanOf(elements)),
        calls_(static_cast<int>(plan_.chunks(0).size())),
        gradients_(elements, 1e-3F),
        variables_(elements) {
    for (const ShardPlan::Chunk& chunk : plan_.chunks(0))
      AddChunk(chunk.blocks);
    v1::AdmitRequest request;
    request.add_workers()->set_incarnation(incarnation_);
    v1::AdmitResponse response;
    CallGroup admission(1);
    client_.Admit(request, &response, kTimeout, admission.Open(0));
    admission.Wait();
    CHECK(admission.status(0).ok()) << admission.status(0);
  }
  // Fences this worker, since the server has room for only a few workers that
  // are not fenced.
  ~Client() {
    v1::FenceRequest request;
    request.mutable_worker()->set_incarnation(incarnation_);
    v1::FenceResponse response;
    CallGroup fence(1);
    client_.Fence(request, &response, kTimeout, fence.Open(0));
    fence.Wait();
    CHECK(fence.status(0).ok()) << fence.status(0);
  }

  bool shares_memory() const { return client_.shares_memory(); }

  void Push() { PushAll(/*pull=*/false); }
  void PushAndPull() { PushAll(/*pull=*/true); }
  void Pull() {
    CallAll([this](ChunkCalls& chunk, CallDone done) {
      client_.Pull(chunk.pull, &chunk.pulled, absl::MakeSpan(chunk.variables),
                   kTimeout, std::move(done));
    });
  }

 private:
  struct ChunkCalls {
    v1::PushRequest push;
    v1::PushResponse pushed;
    v1::PullRequest pull;
    v1::PullResponse pulled;
    std::vector<DenseValues> gradients;
    std::vector<DenseBuffer> variables;
  };

  static PsClientOptions OptionsOf(bool use_shared_memory) {
    PsClientOptions options;
    options.use_shared_memory = use_shared_memory;
    return options;
  }

  static ShardPlan PlanOf(int64_t elements) {
    const auto graph = BuildGraph(JobOf(elements).model());
    CHECK(graph.ok()) << graph.status();
    auto plan = ShardPlan::Make(graph->variables, 1, {}, sizeof(float));
    CHECK(plan.ok()) << plan.status();
    return *std::move(plan);
  }

  void AddChunk(absl::Span<const Block> blocks) {
    ChunkCalls calls;
    calls.push.set_ps_incarnation(kIncarnation);
    calls.push.set_chunk(static_cast<uint32_t>(chunks_.size()));
    calls.push.mutable_worker()->set_incarnation(incarnation_);
    calls.pull.set_ps_incarnation(kIncarnation);
    calls.pull.set_chunk(static_cast<uint32_t>(chunks_.size()));
    for (const Block& block : blocks) {
      const size_t size = block.count * sizeof(float);
      float* const gradients = gradients_.data() + block.bucket_offset;
      float* const variables = variables_.data() + block.bucket_offset;
      calls.gradients.push_back(
          {static_cast<uint32_t>(block.index),
           v1::DATA_TYPE_FLOAT32,
           0,
           {reinterpret_cast<const std::byte*>(gradients), size}});
      calls.variables.push_back(
          {{reinterpret_cast<std::byte*>(variables), size}});
    }
    chunks_.push_back(std::move(calls));
  }

  void PushAll(bool pull) {
    ++sequence_;
    CallAll([this, pull](ChunkCalls& chunk, CallDone done) {
      chunk.push.mutable_progress()->set_sequence(sequence_);
      chunk.push.set_pull(pull);
      client_.Push(
          chunk.push, chunk.gradients, &chunk.pushed,
          pull ? absl::MakeSpan(chunk.variables) : absl::Span<DenseBuffer>(),
          kTimeout, std::move(done));
    });
  }

  template <typename Start>
  void CallAll(Start start) {
    int next = 0;
    const auto start_next = [&] {
      if (next == static_cast<int>(chunks_.size())) return;
      start(chunks_[next], calls_.Open(next));
      ++next;
    };
    for (int i = 0; i < limits::kCallsPerServer; ++i) start_next();
    for (int ended = calls_.WaitForOne(); ended >= 0;
         ended = calls_.WaitForOne()) {
      CHECK(calls_.status(ended).ok()) << calls_.status(ended);
      start_next();
    }
  }

  PsClient client_;
  const ShardPlan plan_;
  CallGroup calls_;
  // New for each client; otherwise the server would take its first pushes for
  // repeats.
  const uint64_t incarnation_ = DrawIncarnation();
  std::vector<float> gradients_;
  std::vector<float> variables_;
  std::vector<ChunkCalls> chunks_;
  uint64_t sequence_ = 0;
};

void Register(const std::string& name, const ServerProcess& server,
              int64_t elements, bool use_shared_memory,
              std::shared_ptr<const Tls> tls, void (Client::*call)()) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [&server, elements, use_shared_memory, tls = std::move(tls),
       call](benchmark::State& state) {
        Client client(server.address(), elements, use_shared_memory, tls);
        for (int warm_up = 0;
             warm_up < 3 || client.shares_memory() != use_shared_memory;
             ++warm_up) {
          CHECK_LT(warm_up, 10'000) << "no shared memory";
          (client.*call)();
        }
        for ([[maybe_unused]] auto _ : state) (client.*call)();
        state.SetBytesProcessed(state.iterations() * elements *
                                static_cast<int64_t>(sizeof(float)));
      })
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime();
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  using paceline::Client;
  using paceline::Way;
  // The same settings as in ps_server/main.cc.
  mallopt(M_ARENA_MAX, 1);
  paceline::KeepFreedMemory();
  paceline::TurnOffDeadlockDetection();
  benchmark::Initialize(&argc, argv);
  std::string folder =
      (std::filesystem::temp_directory_path() / "ps_benchmark-XXXXXX").string();
  PCHECK(mkdtemp(folder.data()) != nullptr);
  const paceline::TlsFiles files =
      paceline::TestAuthority(folder, "ca").Issue("all");
  // Fork all processes before the first thread starts.
  std::vector<std::unique_ptr<paceline::ServerProcess>> servers;
  const std::vector<int64_t> mebibytes = {1, 4, 64};
  const std::vector<Way> ways = {Way::kSharedMemory, Way::kTcp, Way::kTls};
  for (const int64_t size : mebibytes) {
    for (const Way way : ways) {
      servers.push_back(std::make_unique<paceline::ServerProcess>(
          (size << 20) / 4, way == Way::kTls ? files : paceline::TlsFiles()));
    }
  }
  const std::shared_ptr<const paceline::Tls> tls = paceline::Load(files);
  // Keeps a channel open: gRPC ends its threads with its last channel, which
  // takes seconds.
  const paceline::PsClient idle(0, "127.0.0.1:1", paceline::TestCaller());
  for (size_t i = 0; i < servers.size(); ++i) {
    const int64_t size = mebibytes[i / ways.size()];
    const Way way = ways[i % ways.size()];
    const auto add = [&](absl::string_view call, void (Client::*method)()) {
      paceline::Register(
          absl::StrCat(call, "/MiB:", size, "/", paceline::NameOf(way)),
          *servers[i], (size << 20) / 4, way == Way::kSharedMemory,
          way == Way::kTls ? tls : nullptr, method);
    };
    add("Push", &Client::Push);
    add("Pull", &Client::Pull);
    add("PushAndPull", &Client::PushAndPull);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  std::filesystem::remove_all(folder);
}
