// A replica of the job's model on one device.
#ifndef PACELINE_WORKER_REPLICA_H_
#define PACELINE_WORKER_REPLICA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/job/job_model.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/job.pb.h"
#include "worker/data/batch_pipeline.h"
#include "worker/device/device.h"
#include "worker/make_device.h"
#include "worker/program_cache.h"
#include "worker/progress_sink.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/transport_statistics_all_reduce.h"

namespace paceline {

// What a replica computes with; each part uses those before. Not thread-safe.
struct Replica {
  // --- From MakeReplica on ---
  JobModel model;
  // Of the model; CompileReplica adds the rest.
  ProgramSpec spec;
  std::unique_ptr<Device> device;
  ShardPlan plan;
  // Of a model whose layers share statistics; else null.
  std::unique_ptr<TransportStatisticsAllReduce> statistics;
  std::unique_ptr<const Optimizer> optimizer;
  std::unique_ptr<Stream> stream;
  // The device's end of a group, if it has joined one; else null.
  std::unique_ptr<DeviceGroup> group;

  // --- From CompileReplica on ---
  std::unique_ptr<ModelState> state;
  std::unique_ptr<ProgramCache> programs;
  // Where the replica holds the variables, initialised from the job's seed;
  // else null.
  std::unique_ptr<LocalVariables> variables;
};

// Makes what needs no other replica. `choice` is of its device, but for the
// name, which the job has. Errors name what of the job is wrong.
absl::StatusOr<std::unique_ptr<Replica>> MakeReplica(
    const v1::Job& job, const DeviceChoice& choice);

struct CompileOptions {
  // Of the usual batch, for which the model is compiled at once.
  int64_t batch_size = 0;
  // Of other batches of training, for which it is, too.
  std::vector<int64_t> other_batch_sizes;
  bool holds_variables = false;
  // The strategy keeps the variables at each replica, and there is one. So the
  // device may update them itself, as it may where it has joined a group.
  bool is_alone = false;
  // Gives so many bytes for its gradients, which outlive it, or none; null: it
  // takes memory of its own.
  std::function<absl::Span<std::byte>(size_t size)> gradient_memory;
};

// Makes the rest, once it is known whether the device has joined a group.
absl::Status CompileReplica(const v1::Job& job, const CompileOptions& options,
                            Replica& replica);

// What a replica works on.
struct ReplicaWork {
  std::map<v1::Phase, PhaseData> phases;
  BatchPipeline::LeaseSource leases;
  ProgressSink* progress = nullptr;
  // Whether it reports its steps.
  bool log_steps = false;
  // As TrainerParts has it; used where the device has joined a group.
  std::function<void(const std::string&)> on_waiting;
};

// Trains and evaluates as leases come, until there are no more, or the first
// error. Blocks. `finish` is called before the data's thread is waited for: it
// must end that one's wait for a lease.
absl::Status RunReplica(Replica& replica, Strategy& strategy,
                        const ReplicaWork& work,
                        const std::function<void(const absl::Status&)>& finish);

}  // namespace paceline

#endif  // PACELINE_WORKER_REPLICA_H_
