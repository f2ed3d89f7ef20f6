#include "worker/worker.h"

#include <glog/logging.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/job_model.h"
#include "common/limits.h"
#include "common/sharding/shard_plan.h"
#include "worker/checkpoint_strategy.h"
#include "worker/data/batch_pipeline.h"
#include "worker/datasets.h"
#include "worker/make_device.h"
#include "worker/program_cache.h"
#include "worker/strategy/parameter_server.h"
#include "worker/trainer.h"

namespace paceline {
namespace {

absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(
    Member& member, const MemberOptions& options,
    const v1::AwaitStartResponse& start, const Graph& graph,
    const ShardPlan& plan, ModelState& state, Stream& stream) {
  const v1::RegisterResponse& registration = member.registration();
  if (!registration.evaluate_checkpoint().empty()) {
    return CheckpointStrategy::Open(registration.evaluate_checkpoint(), graph,
                                    plan, state, stream);
  }
  ParameterServerOptions ps;
  ps.worker.set_rank(registration.rank());
  ps.worker.set_incarnation(options.incarnation);
  ps.servers.assign(start.ps().begin(), start.ps().end());
  ps.timeout = absl::Seconds(registration.ps_timeout().seconds());
  ps.on_waiting = [&member](const std::string& what) {
    member.SetWaitingFor(what);
  };
  return std::make_unique<ParameterServerStrategy>(std::move(ps), plan, state,
                                                   stream);
}

absl::Status TrainAsMember(Member& member, const WorkerOptions& options) {
  const v1::RegisterResponse& registration = member.registration();
  const v1::Job& job = registration.job();
  ASSIGN_OR_RETURN(const JobModel model, MakeJobModel(job));
  ASSIGN_OR_RETURN(const std::unique_ptr<Device> device,
                   MakeDevice(job.device(), options.threads));
  RETURN_IF_ERROR(device->Supports(model.graph));
  const int64_t batch_size =
      ReplicaBatchSize(job, static_cast<int>(registration.world_size()));
  const bool test_only = !registration.evaluate_checkpoint().empty();
  ASSIGN_OR_RETURN(
      const Datasets datasets,
      OpenDatasets(job, model.graph, *model.loss, batch_size, test_only));
  LOG(INFO) << "rank " << registration.rank() << " of "
            << registration.world_size() << " on " << device->name()
            << ", ready";
  ASSIGN_OR_RETURN(const v1::AwaitStartResponse start,
                   member.AwaitStart(datasets.sizes));

  ASSIGN_OR_RETURN(
      const ShardPlan plan,
      ShardPlan::Make(model.graph.variables, std::max(1, start.ps_size()),
                      job.partitioner(), sizeof(float)));
  ProgramSpec spec;
  spec.graph = &model.graph;
  spec.plan = &plan;
  spec.loss = model.loss.get();
  spec.metrics = model.metrics;
  spec.seed = job.seed();
  const std::unique_ptr<Stream> stream = device->CreateStream();
  ASSIGN_OR_RETURN(const std::unique_ptr<ModelState> state,
                   device->CreateState(spec));
  ASSIGN_OR_RETURN(const std::unique_ptr<Strategy> strategy,
                   MakeStrategy(member, options.member, start, model.graph,
                                plan, *state, *stream));
  ProgramCache programs(spec, *device, *state);

  PipelineOptions pipeline_options;
  pipeline_options.phases = datasets.phases;
  pipeline_options.batch_size = batch_size;
  pipeline_options.type = state->type();
  pipeline_options.sparse_labels = model.loss->has_sparse_labels();
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline,
                   BatchPipeline::Create(pipeline_options, [&member] {
                     return member.AcquireLease();
                   }));
  TrainerParts parts;
  parts.pipeline = pipeline.get();
  parts.programs = &programs;
  parts.state = state.get();
  parts.stream = stream.get();
  parts.strategy = strategy.get();
  parts.member = &member;
  parts.label_type =
      pipeline_options.sparse_labels ? DataType::kInt32 : state->type();
  Trainer trainer(parts, static_cast<int>(model.metrics.size()),
                  options.process_start, job.log_steps());
  const absl::Status status = trainer.Run();
  // The pipeline's thread may wait for a lease: saying goodbye ends that.
  member.Leave(status);
  return status;
}

}  // namespace

absl::Status RunWorker(WorkerOptions options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Member> member,
                   Member::Join(options.member));
  const absl::Status status = TrainAsMember(*member, options);
  member->Leave(status);
  // The leader ended the job, and tells why.
  return absl::IsCancelled(status) ? absl::OkStatus() : status;
}

}  // namespace paceline
