// The examples that predictions are made of.
#ifndef PACELINE_WORKER_EVALUATION_PREDICTION_DATA_H_
#define PACELINE_WORKER_EVALUATION_PREDICTION_DATA_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/task/predict_options.h"
#include "paceline/v1/job.pb.h"
#include "worker/setup/remote_data.h"

namespace paceline {

struct PredictionData {
  // In use by `source`.
  FetchedFiles files;
  // Has no labels.
  std::unique_ptr<const DataSource> source;
  // What is said of the data.
  v1::Dataset dataset;
  // The job that was given, or an empty one; with the device.
  v1::Job job;
  int64_t batch_size = 0;
};

// InvalidArgument unless the options name either a job, which must have
// data.test, or a data file. Other errors name the file. What is named by a URL
// is fetched by `files`. Blocks on the disk and on that.
absl::StatusOr<PredictionData> OpenPredictionData(const PredictOptions& options,
                                                  const RemoteFiles& files);

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_PREDICTION_DATA_H_
