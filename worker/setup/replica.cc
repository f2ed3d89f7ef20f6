#include "worker/setup/replica.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/tensor_visits.h"
#include "common/job/job_model.h"
#include "common/job/job_plan.h"
#include "common/job/model_file.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/metric_layout.h"
#include "common/model/seeded_values.h"
#include "worker/device/bucket_memory.h"
#include "worker/setup/datasets.h"
#include "worker/setup/make_device.h"
#include "worker/trainer.h"

namespace paceline {

absl::StatusOr<std::unique_ptr<Replica>> MakeReplica(
    const v1::Job& job, const DeviceChoice& choice) {
  auto replica = std::make_unique<Replica>();
  ASSIGN_OR_RETURN(replica->model, MakeJobModel(job));
  const JobModel& model = replica->model;
  ProgramSpec& spec = replica->spec;
  spec.graph = &model.graph;
  spec.outputs = SpecsOf(model.objectives);
  ASSIGN_OR_RETURN(replica->device, MakeDevice(job, choice, spec));
  RETURN_IF_ERROR(replica->device->Supports(spec));
  ASSIGN_OR_RETURN(
      replica->plan,
      MakeJobPlan(job, model.graph,
                  std::max(1, static_cast<int>(job.cluster().ps())),
                  sizeof(float)));
  std::vector<int64_t> shared = SynchronizedChannels(model.graph);
  if (!shared.empty()) {
    replica->statistics =
        std::make_unique<TransportStatisticsAllReduce>(std::move(shared));
  }
  ASSIGN_OR_RETURN(replica->optimizer, MakeJobOptimizer(job, model.graph));
  ASSIGN_OR_RETURN(replica->stream, replica->device->CreateStream());
  return replica;
}

absl::StatusOr<std::unique_ptr<Replica>> MakePredictingReplica(
    Graph graph, const v1::Job& job, const DeviceChoice& choice) {
  auto replica = std::make_unique<Replica>();
  replica->model.graph = std::move(graph);
  std::vector<VariableSpec>& variables = replica->model.graph.variables;
  for (VariableSpec& variable : variables) {
    variable.update = VariableUpdate::kNone;
  }
  replica->spec.graph = &replica->model.graph;
  ASSIGN_OR_RETURN(replica->device, MakeDevice(job, choice, replica->spec));
  RETURN_IF_ERROR(replica->device->Supports(replica->spec));
  ASSIGN_OR_RETURN(replica->plan,
                   ShardPlan::Make(variables, /*shard_count=*/1,
                                   v1::Partitioner(), sizeof(float)));
  ASSIGN_OR_RETURN(replica->stream, replica->device->CreateStream());
  return replica;
}

absl::Status CompileReplica(const v1::Job& job, const CompileOptions& options,
                            Replica& replica) {
  const JobModel& model = replica.model;
  ProgramSpec& spec = replica.spec;
  spec.bucket_layout = &replica.plan.layout();
  spec.seed = job.seed();
  spec.precision = PrecisionOf(job, *replica.device);
  if (replica.optimizer != nullptr) {
    spec.loss_scaling = replica.optimizer->loss_scaling.value_or(LossScaling());
  }
  spec.steps_per_execution = std::max<int>(job.steps_per_execution(), 1);
  spec.statistics_all_reduce = replica.statistics.get();
  if (options.gradient_memory != nullptr) {
    spec.gradient_memory = options.gradient_memory(
        GradientBytes(replica.plan.layout(), DataType::kFloat32));
  }
  spec.group = replica.group.get();
  if (options.holds_variables && spec.statistics_all_reduce == nullptr &&
      (options.is_alone || replica.group != nullptr) &&
      replica.device->CanUpdate()) {
    spec.optimizer = replica.optimizer.get();
  }
  ASSIGN_OR_RETURN(replica.state, replica.device->CreateState(spec));
  replica.programs =
      std::make_unique<ProgramCache>(spec, *replica.device, *replica.state);
  RETURN_IF_ERROR(
      replica.programs->Get(options.mode, options.batch_size).status());
  for (const int64_t batch_size : options.other_batch_sizes) {
    RETURN_IF_ERROR(replica.programs->Get(Mode::kTrain, batch_size).status());
  }
  if (!options.holds_variables) return absl::OkStatus();
  replica.variables = std::make_unique<LocalVariables>(
      replica.plan, *replica.optimizer, *replica.state);
  ASSIGN_OR_RETURN(
      const std::unique_ptr<InitialWeights> weights,
      options.fence.Run([&] { return OpenWeights(job, model.graph); }));
  SeededValues seeded(job.seed());
  return FillInitialValues(seeded, model.graph.variables, weights.get(),
                           *replica.variables);
}

absl::Status RunReplica(
    Replica& replica, Strategy& strategy, const ReplicaWork& work,
    const std::function<void(const absl::Status&)>& finish) {
  PipelineOptions options;
  options.phases = work.phases;
  options.type = replica.state->type();
  options.model = ModelArraysOf(replica.model);
  options.readers = work.readers;
  options.fence = work.fence;
  if (work.trace != nullptr) {
    options.lane =
        &work.trace->AddLane(absl::StrCat("data of ", work.trace->name()));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline,
                   BatchPipeline::Create(options, work.leases));
  TrainerParts parts;
  parts.pipeline = pipeline.get();
  parts.programs = replica.programs.get();
  parts.state = replica.state.get();
  parts.stream = replica.stream.get();
  parts.strategy = &strategy;
  parts.statistics = replica.statistics.get();
  parts.progress = work.progress;
  parts.steps_per_execution = replica.spec.steps_per_execution;
  parts.bucket_count =
      static_cast<int>(replica.plan.layout().updated_buckets().size());
  if (replica.group != nullptr) parts.on_waiting = work.on_waiting;
  parts.leaves = work.leaves;
  parts.first_epoch = work.first_epoch;
  parts.trace = work.trace;
  parts.on_first_batch = work.on_first_batch;
  Trainer trainer(parts, MetricLayout(replica.spec.outputs), work.log_steps);
  absl::Status status = trainer.Run();
  if (status.ok() && work.trace != nullptr) work.trace->End();
  finish(status);
  return status;
}

}  // namespace paceline
