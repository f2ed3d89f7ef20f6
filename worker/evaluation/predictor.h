// Writes the outputs of a trained model for the examples of a data set.
//
// A model with several outputs has a file for each (PathsOfOutputs). There is
// no session and no other task: one replica reads the variables from a file and
// computes in inference mode, in float32, without labels and loss.
#ifndef PACELINE_WORKER_EVALUATION_PREDICTOR_H_
#define PACELINE_WORKER_EVALUATION_PREDICTOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/remote_file/remote_files.h"
#include "common/task/predict_options.h"

namespace paceline {

// Returns the paths of the files that it wrote, in the order of the model's
// outputs. `data_access`: how data that is named by URLs is fetched. `threads`:
// that compute on a CPU. Polls `interrupted` for the first time when the data
// has been fetched and opened and nothing is written, and then before each
// batch. Calls `on_batch` after each batch of `batches`. Memory is that of the
// model, of a few batches and of their outputs; it does not grow with the data.
//
// On an error no file is half-written: existing ones are as they were, and
// there is no new one, except that of several files some may be in place
// already. Cancelled if interrupted; InvalidArgument for options that exclude
// each other; else errors name the file or the layer at fault. Blocks.
absl::StatusOr<std::vector<std::string>> Predict(
    const PredictOptions& options, const RemoteFilesOptions& data_access,
    int threads, const std::function<bool()>& interrupted,
    const std::function<void(int64_t done, int64_t batches)>& on_batch);

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_PREDICTOR_H_
