// A replica of the job's model on one device.
#ifndef PACELINE_WORKER_REPLICA_H_
#define PACELINE_WORKER_REPLICA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/job/job_model.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/job.pb.h"
#include "worker/data/batch_pipeline.h"
#include "worker/device/device.h"
#include "worker/program_cache.h"
#include "worker/progress_sink.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/transport_sum.h"

namespace paceline {

// What a replica computes with; each part uses those before. Not thread-safe.
struct Replica {
  JobModel model;
  std::unique_ptr<Device> device;
  ShardPlan plan;
  // Of a model whose layers share statistics; else null.
  std::unique_ptr<TransportSum> statistics;
  std::unique_ptr<const Optimizer> optimizer;
  ProgramSpec spec;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<ModelState> state;
  std::unique_ptr<ProgramCache> programs;
  // Where the replica holds the variables, initialised from the job's seed;
  // else null.
  std::unique_ptr<LocalVariables> variables;
};

struct ReplicaOptions {
  // Threads that compute, at least 1.
  int threads = 1;
  // Of the usual batch, for which the model is compiled at once.
  int64_t batch_size = 0;
  bool holds_variables = false;
  // Nobody else has gradients for them: the device may update them itself.
  bool is_alone = false;
  // Gives so many bytes for its gradients, which outlive it, or none; null: it
  // takes memory of its own.
  std::function<absl::Span<std::byte>(size_t size)> gradient_memory;
};

// Errors name what of the job is wrong.
absl::StatusOr<std::unique_ptr<Replica>> MakeReplica(
    const v1::Job& job, const ReplicaOptions& options);

// What a replica works on.
struct ReplicaWork {
  std::map<v1::Phase, PhaseData> phases;
  BatchPipeline::LeaseSource leases;
  ProgressSink* progress = nullptr;
  // Whether it reports its steps.
  bool log_steps = false;
};

// Trains and evaluates as leases come, until there are no more, or the first
// error. Blocks. `finish` is called before the data's thread is waited for: it
// must end that one's wait for a lease.
absl::Status RunReplica(Replica& replica, Strategy& strategy,
                        const ReplicaWork& work,
                        const std::function<void(const absl::Status&)>& finish);

}  // namespace paceline

#endif  // PACELINE_WORKER_REPLICA_H_
