// The sets of examples of a job, opened.
#ifndef PACELINE_WORKER_DATASETS_H_
#define PACELINE_WORKER_DATASETS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
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

// Opens what the job trains, validates and tests on, or, with `test_only`, just
// the latter, as the worker `rank` of `world_size` works on it. Errors name the
// set and the file.
absl::StatusOr<Datasets> OpenDatasets(const v1::Job& job, const Graph& graph,
                                      const Loss& loss, int rank,
                                      int world_size, bool test_only);

}  // namespace paceline

#endif  // PACELINE_WORKER_DATASETS_H_
