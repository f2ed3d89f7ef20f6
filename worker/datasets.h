// The sets of examples of a job, opened.
#ifndef PACELINE_WORKER_DATASETS_H_
#define PACELINE_WORKER_DATASETS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/data_source/model_arrays.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/job.pb.h"
#include "worker/data/batch_pipeline.h"

namespace paceline {

// Immutable.
struct Datasets {
  std::vector<std::unique_ptr<const DataSource>> sources;
  // What the leases of each phase are about; points into `sources`.
  std::map<v1::Phase, PhaseData> phases;
  // What the leader must know: the numbers of examples.
  v1::AwaitStartRequest sizes;
};

// What the model takes of an example, for its inputs and its only output.
ModelArrays ModelArraysOf(const Graph& graph, const Loss& loss);

// Opens what the job has for these phases. `workers` is how many work on it.
// Errors name the set and the file.
absl::StatusOr<Datasets> OpenDatasets(const v1::Job& job, const Graph& graph,
                                      const Loss& loss, int workers,
                                      const std::set<v1::Phase>& phases);

// The phases for the replica on device `device` of the worker `rank` of
// `workers`, with its slices of each step.
std::map<v1::Phase, PhaseData> PhasesOfReplica(const Datasets& datasets,
                                               const v1::Job& job, int rank,
                                               int workers, int device);

}  // namespace paceline

#endif  // PACELINE_WORKER_DATASETS_H_
