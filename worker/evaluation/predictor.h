// Writes the outputs of a trained model for the examples of a data set.
//
// A model with several outputs has a file for each (PathOfOutput). There is no
// session and no other task: one replica reads the variables from a
// file and computes in inference mode, in float32, without labels and loss.
#ifndef PACELINE_WORKER_EVALUATION_PREDICTOR_H_
#define PACELINE_WORKER_EVALUATION_PREDICTOR_H_

#include <functional>

#include "absl/status/status.h"
#include "common/task/predict_options.h"

namespace paceline {

// `threads`: that compute on a CPU. Polls `interrupted` after each batch.
//
// On an error there is no new file, and an existing one is as it was. Cancelled
// if interrupted; InvalidArgument for options that exclude each other; else
// errors name the file or the layer at fault. Blocks.
absl::Status Predict(const PredictOptions& options, int threads,
                     const std::function<bool()>& interrupted);

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_PREDICTOR_H_
