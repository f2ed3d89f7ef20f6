// The model, loss and metrics of a job as typed objects.
#ifndef PACELINE_COMMON_JOB_JOB_MODEL_H_
#define PACELINE_COMMON_JOB_JOB_MODEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/objective.h"
#include "common/model/variable.h"
#include "common/optimizer/optimizer.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Immutable; thread-safe. A pure function of the job, so it is equal in every
// process.
struct JobModel {
  Graph graph;
  // By output of the model.
  std::vector<Objective> objectives;
};

// Errors name the layer, loss or metric.
absl::StatusOr<JobModel> MakeJobModel(const v1::Job& job);

// The job's optimizer for the variables of its model, with their constraints,
// and with those that no loss depends on; it goes on from the job's
// initial_iterations.
absl::StatusOr<std::unique_ptr<const Optimizer>> MakeJobOptimizer(
    const v1::Job& job, const Graph& graph);

// The fields of the job that say what its variables are: model, losses with
// their weights, optimizer, metrics and initial_iterations.
v1::Job TrainedPart(const v1::Job& job);

// The number of replicas of the model on `workers` workers.
int ReplicaCount(const v1::Job& job, int workers);

// Whether all replicas take each training step together, according to the job's
// strategy or `consistency`.
bool IsSynchronous(const v1::Job& job);

// The number of replicas if it decides which example has which position of an
// epoch, since each has files or passes of its own (`auto_shard_policy`) and
// all take each step together; else 0.
int OrderReplicas(const v1::Job& job, int workers);

// Examples per step of one replica.
int64_t ReplicaBatchSize(const v1::Job& job, int workers);

// Examples per step of one worker's replicas together: the batch size of
// evaluations.
int64_t WorkerBatchSize(const v1::Job& job, int workers);

// Examples per training step: of all replicas if they step together, else of
// one.
int64_t StepBatchSize(const v1::Job& job, int workers);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_MODEL_H_
