#include "common/job/job_model.h"

#include "common/base/status_macros.h"
#include "common/config/path.h"

namespace paceline {

absl::StatusOr<JobModel> MakeJobModel(const v1::Job& job) {
  JobModel model;
  ASSIGN_OR_RETURN(model.graph, BuildGraph(job.model()));
  ASSIGN_OR_RETURN(model.loss, MakeLoss(job.loss()));
  const absl::Status fits = model.loss->CheckOutput(model.graph.output_shape());
  if (!fits.ok()) {
    return ConfigError(Path("loss"), fits.message(), fits.code());
  }
  ASSIGN_OR_RETURN(model.metrics, MakeMetrics(job.metrics(), *model.loss,
                                              model.graph.output_shape()));
  return model;
}

int64_t ReplicaBatchSize(const v1::Job& job, int world_size) {
  if (job.batch_case() == v1::Job::kGlobalBatchSize) {
    return (int64_t{job.global_batch_size()} + world_size - 1) / world_size;
  }
  return job.batch_size_per_replica();
}

bool IsSynchronous(const v1::Job& job) {
  return job.strategy() != v1::STRATEGY_PARAMETER_SERVER;
}

int64_t StepBatchSize(const v1::Job& job, int world_size) {
  if (!IsSynchronous(job)) return ReplicaBatchSize(job, world_size);
  return job.batch_case() == v1::Job::kGlobalBatchSize
             ? int64_t{job.global_batch_size()}
             : int64_t{job.batch_size_per_replica()} * world_size;
}

}  // namespace paceline
