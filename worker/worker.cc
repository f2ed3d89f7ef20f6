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
  if (start.ps_size() != plan.shard_count()) {
    return absl::InternalError(absl::StrCat(
        "the leader names ", start.ps_size(),
        " parameter servers, where its job has ", plan.shard_count()));
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

// What a worker computes with, made ready before the job starts.
struct Workbench {
  JobModel model;
  std::unique_ptr<Device> device;
  ShardPlan plan;
  ProgramSpec spec;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<ModelState> state;
  std::unique_ptr<ProgramCache> programs;
};

// Compiles the job's model for its usual batch.
absl::StatusOr<std::unique_ptr<Workbench>> MakeWorkbench(const v1::Job& job,
                                                         int threads,
                                                         int64_t batch_size) {
  auto bench = std::make_unique<Workbench>();
  ASSIGN_OR_RETURN(bench->model, MakeJobModel(job));
  const JobModel& model = bench->model;
  ASSIGN_OR_RETURN(bench->device, MakeDevice(job.device(), threads));
  RETURN_IF_ERROR(bench->device->Supports(model.graph));
  ASSIGN_OR_RETURN(
      bench->plan,
      ShardPlan::Make(model.graph.variables,
                      std::max(1, static_cast<int>(job.cluster().ps())),
                      job.partitioner(), sizeof(float)));
  ProgramSpec& spec = bench->spec;
  spec.graph = &model.graph;
  spec.plan = &bench->plan;
  spec.loss = model.loss.get();
  spec.metrics = model.metrics;
  spec.seed = job.seed();
  bench->stream = bench->device->CreateStream();
  ASSIGN_OR_RETURN(bench->state, bench->device->CreateState(spec));
  bench->programs =
      std::make_unique<ProgramCache>(spec, *bench->device, *bench->state);
  RETURN_IF_ERROR(bench->programs->Get(Mode::kTrain, batch_size).status());
  return bench;
}

// Takes leases and processes them until the job is over.
absl::Status Work(Member& member, const WorkerOptions& options,
                  const v1::AwaitStartResponse& start, Workbench& bench,
                  const Datasets& datasets, int64_t batch_size) {
  const v1::Job& job = member.registration().job();
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Strategy> strategy,
      MakeStrategy(member, options.member, start, bench.model.graph, bench.plan,
                   *bench.state, *bench.stream));
  PipelineOptions pipeline_options;
  pipeline_options.phases = datasets.phases;
  pipeline_options.batch_size = batch_size;
  pipeline_options.type = bench.state->type();
  const bool sparse_labels = bench.model.loss->has_sparse_labels();
  if (sparse_labels) {
    pipeline_options.class_count = bench.model.graph.output_shape().back();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline,
                   BatchPipeline::Create(pipeline_options, [&member] {
                     return member.AcquireLease();
                   }));
  TrainerParts parts;
  parts.pipeline = pipeline.get();
  parts.programs = bench.programs.get();
  parts.state = bench.state.get();
  parts.stream = bench.stream.get();
  parts.strategy = strategy.get();
  parts.member = &member;
  parts.label_type = sparse_labels ? DataType::kInt32 : bench.state->type();
  Trainer trainer(parts, static_cast<int>(bench.model.metrics.size()),
                  job.log_steps());
  const absl::Status status = trainer.Run();
  // The pipeline's thread may wait for a lease: saying goodbye ends that.
  member.Leave(status);
  return status;
}

absl::Status TrainAsMember(Member& member, const WorkerOptions& options) {
  const v1::RegisterResponse& registration = member.registration();
  const v1::Job& job = registration.job();
  const int64_t batch_size =
      ReplicaBatchSize(job, static_cast<int>(registration.world_size()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Workbench> bench,
                   MakeWorkbench(job, options.threads, batch_size));
  ASSIGN_OR_RETURN(
      const Datasets datasets,
      OpenDatasets(job, bench->model.graph, *bench->model.loss, batch_size,
                   /*test_only=*/!registration.evaluate_checkpoint().empty()));
  LOG(INFO) << "rank " << registration.rank() << " of "
            << registration.world_size() << " on " << bench->device->name()
            << ", ready";
  ASSIGN_OR_RETURN(const v1::AwaitStartResponse start,
                   member.AwaitStart(datasets.sizes));
  return Work(member, options, start, *bench, datasets, batch_size);
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
