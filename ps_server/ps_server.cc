#include "ps_server/ps_server.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "common/base/exit_code.h"
#include "common/base/mutex.h"
#include "common/base/simd.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/job/job_model.h"
#include "common/job/job_plan.h"
#include "common/limits.h"
#include "common/net/listener.h"
#include "common/rpc/health_service.h"
#include "common/rpc/rpc_server.h"
#include "common/sharding/shard_plan.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"

namespace paceline {
namespace {

// Time between two beats of the main loop, which has nothing else to do.
constexpr absl::Duration kBeatInterval = absl::Milliseconds(100);

// A one-time event that a thread can wait for.
class Notification {
 public:
  void Notify() {
    MutexLock lock(mutex_);
    happened_ = true;
    changed_.NotifyAll();
  }
  // Returns whether it happened, after `timeout` at most.
  bool WaitFor(absl::Duration timeout) {
    MutexLock lock(mutex_);
    if (!happened_) changed_.WaitFor(mutex_, timeout);
    return happened_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool happened_ ABSL_GUARDED_BY(mutex_) = false;
};

// Bytes of the largest message with blocks in this job.
absl::StatusOr<size_t> LargestMessageBytes(const v1::Job& job) {
  ASSIGN_OR_RETURN(const JobModel model, MakeJobModel(job));
  const int shard_count = std::max(1, static_cast<int>(job.cluster().ps()));
  ASSIGN_OR_RETURN(const ShardPlan plan,
                   MakeJobPlan(job, model.graph, shard_count, sizeof(float)));
  size_t largest = 0;
  for (int shard = 0; shard < shard_count; ++shard) {
    for (const ShardPlan::Chunk& chunk : plan.chunks(shard)) {
      largest = std::max(largest,
                         static_cast<size_t>(chunk.count) * sizeof(float) +
                             chunk.blocks.size() * limits::kMaxBlockFieldBytes);
    }
  }
  return largest + limits::kMaxControlBytes;
}

// Memory limit for requests: enough for all calls that workers may have open.
size_t MemoryBytes(const v1::Job& job, size_t max_data_bytes) {
  const size_t workers = std::max(1u, job.cluster().worker());
  return limits::kServerMemoryBytes +
         workers * limits::kMaxCallsPerConnection * max_data_bytes;
}

// Serves the shard of a phase of the job, or of a job that has none, until the
// phase is over: the next one follows. If the leader ends the job, ends the
// process. Returned errors are those of the start.
absl::Status ServePhase(PsServerOptions options, const Listener& listener) {
  ASSIGN_OR_RETURN(Listener own_listener, listener.Duplicate());
  // Serve before the leader is there, for probes; until the job is known, all
  // other calls are refused.
  const auto guard = std::make_shared<CallGuard>(options.secret);
  Shard shard(options.member.incarnation, DataType::kFloat32, options.fence);
  PsService service(shard);
  HealthService health;
  ASSIGN_OR_RETURN(const std::unique_ptr<RpcServer> server,
                   RpcServer::Start(std::move(own_listener),
                                    {.guard = guard,
                                     .services = {&service, &health},
                                     .memory_bytes = limits::kServerMemoryBytes,
                                     .tls = options.member.caller->tls()}));

  // If the leader orders the end, this process shuts down in order. If the
  // leader is lost, on_stop ends the process at once.
  Notification stopped;
  const auto on_lost = options.member.on_stop;
  options.member.on_stop = [&](const absl::Status& status) {
    if (!status.ok()) on_lost(status);
    stopped.Notify();
  };
  options.member.on_next_phase = [&] { stopped.Notify(); };
  ASSIGN_OR_RETURN(const std::unique_ptr<Member> member,
                   Member::Join(options.member));
  shard.SetCheckpointFolder(member->registration().checkpoint_folder());
  // The leader calls from now on. Workers follow when the job has started.
  guard->SetJob(options.member.caller->job());
  const v1::Job& job = member->registration().job();
  ASSIGN_OR_RETURN(const size_t max_data_bytes, LargestMessageBytes(job));
  service.SetMaxDataBytes(max_data_bytes);
  server->SetMemoryBytes(MemoryBytes(job, max_data_bytes));
  options.leave->SetReaction([&] { member->AskToLeave(); });
  do {
    health.Beat(shard.is_ready());
  } while (!stopped.WaitFor(kBeatInterval));
  health.EndBeats();
  options.leave->SetReaction([] {});
  member->Leave(absl::OkStatus());
  if (member->is_phase_over()) return absl::OkStatus();
  // Without joining threads: one may hang in a write to disk, or in a call that
  // waits for it.
  EndNow(kSuccess);
}

}  // namespace

absl::Status RunPsServer(PsServerOptions options) {
  // Set before the threads start that apply gradients, which inherit the mode.
  FlushDenormals();
  ASSIGN_OR_RETURN(const Listener listener,
                   Listener::Open(options.listen_address));
  options.member.address =
      options.advertised_address.empty()
          ? WithPort(options.listen_address, listener.port())
          : options.advertised_address;
  LOG(INFO) << "listening on " << options.member.address;
  while (true) {
    RETURN_IF_ERROR(ServePhase(options, listener));
    // Until the next phase has begun, a signal ends the process.
    options.leave->SetReaction([] { EndNow(kRestart); });
    if (options.leave->is_given()) EndNow(kRestart);
  }
}

}  // namespace paceline
