// A replica of the job's model on one device.
#ifndef PACELINE_WORKER_SETUP_REPLICA_H_
#define PACELINE_WORKER_SETUP_REPLICA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/read_fence.h"
#include "common/job/job_model.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/job.pb.h"
#include "worker/data/batch_pipeline.h"
#include "worker/device/device.h"
#include "worker/program_cache.h"
#include "worker/progress_sink.h"
#include "worker/setup/make_device.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/transport_statistics_all_reduce.h"
#include "worker/trace/replica_trace.h"

namespace paceline {

// Everything that a replica computes with. Each member may refer to those
// before it. Not thread-safe.
struct Replica {
  // --- From MakeReplica on ---
  JobModel model;
  // MakeReplica sets the model's part; CompileReplica sets the rest.
  ProgramSpec spec;
  std::unique_ptr<Device> device;
  ShardPlan plan;
  // Set if layers of the model have synchronized statistics; else null.
  std::unique_ptr<TransportStatisticsAllReduce> statistics;
  std::unique_ptr<const Optimizer> optimizer;
  std::unique_ptr<Stream> stream;
  // The device's membership in a group, if it has joined one; else null.
  std::unique_ptr<DeviceGroup> group;

  // --- From CompileReplica on ---
  std::unique_ptr<ModelState> state;
  std::unique_ptr<ProgramCache> programs;
  // The variables, initialised from the job's seed, if the replica holds them;
  // else null.
  std::unique_ptr<LocalVariables> variables;
};

// Creates the part of a replica that does not depend on other replicas.
// `choice` selects its device, except for the name, which the job has. Errors
// name what is wrong with the job.
absl::StatusOr<std::unique_ptr<Replica>> MakeReplica(
    const v1::Job& job, const DeviceChoice& choice);

// The same for a model that only predicts: it has no loss, and no optimizer,
// and its variables are frozen, so that it needs no memory for gradients. Of
// the job it takes what selects the device, and the device's options.
absl::StatusOr<std::unique_ptr<Replica>> MakePredictingReplica(
    Graph graph, const v1::Job& job, const DeviceChoice& choice);

struct CompileOptions {
  // The mode and the usual batch size, for which the model is compiled at once.
  Mode mode = Mode::kTrain;
  int64_t batch_size = 0;
  // Other batch sizes in training for which the model is compiled at once.
  std::vector<int64_t> other_batch_sizes;
  bool holds_variables = false;
  // Whether the strategy keeps the variables at each replica, and there is only
  // one replica. Then the device may update them itself, as it may if it has
  // joined a group.
  bool is_alone = false;
  // Returns `size` bytes for the gradients, which must outlive the replica, or
  // an empty span; then, or if null, the replica allocates them.
  std::function<absl::Span<std::byte>(size_t size)> gradient_memory;
  // For what opens the file of the initial weights.
  ReadFence fence;
};

// Creates the rest of the replica, once it is known whether the device has
// joined a group.
absl::Status CompileReplica(const v1::Job& job, const CompileOptions& options,
                            Replica& replica);

// The work of a replica.
struct ReplicaWork {
  std::map<v1::Phase, PhaseData> phases;
  BatchPipeline::LeaseSource leases;
  // See PipelineOptions.
  int readers = 1;
  ReadFence fence = {};
  ProgressSink* progress = nullptr;
  // Whether the replica reports each step.
  bool log_steps = false;
  // See TrainerParts::on_waiting; used only if the device has joined a group.
  std::function<void(const std::string&)> on_waiting;
  // See TrainerParts.
  std::function<bool()> leaves;
  int64_t first_epoch = 0;
  ReplicaTrace* trace = nullptr;
  std::function<void(const PreparedBatch&)> on_first_batch = nullptr;
};

// Trains and evaluates by leases until there are no more, or the first error.
// Blocks. Calls `finish` before it joins the data thread; `finish` must unblock
// that thread's wait for a lease.
absl::Status RunReplica(Replica& replica, Strategy& strategy,
                        const ReplicaWork& work,
                        const std::function<void(const absl::Status&)>& finish);

}  // namespace paceline

#endif  // PACELINE_WORKER_SETUP_REPLICA_H_
