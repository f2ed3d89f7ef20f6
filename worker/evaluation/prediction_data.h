// The examples that predictions are made of.
#ifndef PACELINE_WORKER_EVALUATION_PREDICTION_DATA_H_
#define PACELINE_WORKER_EVALUATION_PREDICTION_DATA_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/task/predict_options.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct PredictionData {
  // Has no labels.
  std::unique_ptr<const DataSource> source;
  // Factor by which each feature is multiplied.
  double scale = 1;
  // The job that was given, or an empty one; with the device.
  v1::Job job;
  int64_t batch_size = 0;
};

// InvalidArgument unless the options name either a job, which must have
// data.test, or a data file. Other errors name the file. Blocks on the disk.
absl::StatusOr<PredictionData> OpenPredictionData(
    const PredictOptions& options);

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_PREDICTION_DATA_H_
