// What a job computes: the typed objects behind its model, loss and metrics.
#ifndef PACELINE_COMMON_JOB_JOB_MODEL_H_
#define PACELINE_COMMON_JOB_JOB_MODEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Immutable; thread-safe. Every process derives the same from a job.
struct JobModel {
  Graph graph;
  std::unique_ptr<const Loss> loss;
  std::vector<std::unique_ptr<const Metric>> metrics;
};

// Errors name the layer, loss or metric.
absl::StatusOr<JobModel> MakeJobModel(const v1::Job& job);

// Replicas of the model on `workers` workers.
int ReplicaCount(const v1::Job& job, int workers);

// Whether all replicas take each training step together, by the job's strategy
// or its `consistency`.
bool IsSynchronous(const v1::Job& job);

// Examples in a step of one replica, on so many workers.
int64_t ReplicaBatchSize(const v1::Job& job, int workers);

// Examples in a step of one worker's replicas: a batch of an evaluation.
int64_t WorkerBatchSize(const v1::Job& job, int workers);

// Examples in a training step: of all replicas under a synchronous strategy,
// else of one.
int64_t StepBatchSize(const v1::Job& job, int workers);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_MODEL_H_
