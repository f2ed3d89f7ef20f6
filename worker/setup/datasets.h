// The opened data sets of a job.
#ifndef PACELINE_WORKER_SETUP_DATASETS_H_
#define PACELINE_WORKER_SETUP_DATASETS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/read_fence.h"
#include "common/data_source/data_source.h"
#include "common/data_source/model_arrays.h"
#include "common/job/job_model.h"
#include "common/model/graph.h"
#include "common/remote_file/remote_files.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/job.pb.h"
#include "worker/data/batch_pipeline.h"
#include "worker/setup/remote_data.h"

namespace paceline {

// Immutable.
struct Datasets {
  // In use by `sources`.
  FetchedFiles files;
  std::vector<std::unique_ptr<const DataSource>> sources;
  // The data of each phase's leases; points into `sources`.
  std::map<v1::Phase, PhaseData> phases;
  // The numbers of examples, for the leader.
  v1::AwaitStartRequest sizes;
};

// All examples of a source in its own order, in steps of `step_size`, as
// `dataset` says. `seed`: of its random steps.
PhaseData WholeOf(const DataSource& source, const v1::Dataset& dataset,
                  uint64_t seed, int64_t step_size);

// CheckFits for what the phase's steps make of its examples.
absl::Status CheckFits(const PhaseData& phase, const ModelArrays& model);

// The arrays that the model reads of an example for its inputs.
ModelArrays InputArraysOf(const Graph& graph);

// The same, and those of its outputs.
ModelArrays ModelArraysOf(const JobModel& model);

// Opens the data sets of these phases, inside the `fence`; what they name by
// URL is fetched by `files`, which calls `on_progress` now and then. `workers`:
// the number of workers of the job. Errors name the data set and the file.
absl::StatusOr<Datasets> OpenDatasets(
    const v1::Job& job, const JobModel& model, int workers,
    const std::set<v1::Phase>& phases, const RemoteFiles& files,
    const ReadFence& fence, const std::function<void()>& on_progress = [] {});

// The phases with the slices of one replica: the one on device `device` of
// worker `rank` of `workers`.
std::map<v1::Phase, PhaseData> PhasesOfReplica(const Datasets& datasets,
                                               const v1::Job& job, int rank,
                                               int workers, int device);

}  // namespace paceline

#endif  // PACELINE_WORKER_SETUP_DATASETS_H_
