#include "common/job/job_model.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/config/path.h"
#include "common/data_source/sources.h"
#include "common/model/build_graph.h"
#include "common/model/loss_paths.h"
#include "common/optimizer/make_optimizer.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {
namespace {

// Whether any data set has weights of examples. The model then takes them
// everywhere; examples of the others have the weight 1.
bool HasSampleWeights(const v1::Data& data) {
  return HasSampleWeight(data.train()) || HasSampleWeight(data.validation()) ||
         HasSampleWeight(data.test());
}

}  // namespace

absl::StatusOr<JobModel> MakeJobModel(const v1::Job& job) {
  if (!job.class_weight().empty() && HasSampleWeight(job.data().train())) {
    return ConfigError(Path("class_weight"),
                       "excludes sample_weight in data.train, as in Keras");
  }
  JobModel model;
  ASSIGN_OR_RETURN(model.graph, BuildGraph(job.model()));
  ASSIGN_OR_RETURN(
      model.objectives,
      MakeObjectives(job, model.graph, HasSampleWeights(job.data())));
  return model;
}

absl::StatusOr<std::unique_ptr<const Optimizer>> MakeJobOptimizer(
    const v1::Job& job, const Graph& graph) {
  ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                   MakeOptimizer(job.optimizer()));
  optimizer->initial_iterations =
      static_cast<int64_t>(job.initial_iterations());
  optimizer->without_loss = VariablesWithoutLoss(job, graph);
  for (const VariableSpec& variable : graph.variables) {
    if (variable.constraint.is_none()) continue;
    optimizer->constraints[variable.name] = variable.constraint;
  }
  return optimizer;
}

v1::Job TrainedPart(const v1::Job& job) {
  v1::Job part;
  *part.mutable_model() = job.model();
  *part.mutable_loss() = job.loss();
  *part.mutable_optimizer() = job.optimizer();
  *part.mutable_metrics() = job.metrics();
  *part.mutable_named_losses() = job.named_losses();
  *part.mutable_loss_weights() = job.loss_weights();
  *part.mutable_named_metrics() = job.named_metrics();
  *part.mutable_weighted_metrics() = job.weighted_metrics();
  *part.mutable_named_weighted_metrics() = job.named_weighted_metrics();
  part.set_initial_iterations(job.initial_iterations());
  return part;
}

int ReplicaCount(const v1::Job& job, int workers) {
  return workers * std::max(1, static_cast<int>(job.devices()));
}

bool IsSynchronous(const v1::Job& job) {
  return StrategyOf(job).replicas_step_together ||
         job.consistency() == v1::CONSISTENCY_SYNC;
}

int OrderReplicas(const v1::Job& job, int workers) {
  const v1::AutoShardPolicy policy = job.data().train().auto_shard_policy();
  const bool has_own = policy == v1::AUTO_SHARD_POLICY_FILE ||
                       policy == v1::AUTO_SHARD_POLICY_OFF;
  return has_own && IsSynchronous(job) ? ReplicaCount(job, workers) : 0;
}

int64_t ReplicaBatchSize(const v1::Job& job, int workers) {
  const int replicas = ReplicaCount(job, workers);
  if (job.batch_case() == v1::Job::kGlobalBatchSize) {
    return (int64_t{job.global_batch_size()} + replicas - 1) / replicas;
  }
  return job.batch_size_per_replica();
}

int64_t WorkerBatchSize(const v1::Job& job, int workers) {
  return ReplicaBatchSize(job, workers) * ReplicaCount(job, 1);
}

int64_t StepBatchSize(const v1::Job& job, int workers) {
  if (!IsSynchronous(job)) return ReplicaBatchSize(job, workers);
  return job.batch_case() == v1::Job::kGlobalBatchSize
             ? int64_t{job.global_batch_size()}
             : int64_t{job.batch_size_per_replica()} *
                   ReplicaCount(job, workers);
}

}  // namespace paceline
