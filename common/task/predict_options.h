// The command line of `coordinator predict`, and of the worker that it becomes.
#ifndef PACELINE_COMMON_TASK_PREDICT_OPTIONS_H_
#define PACELINE_COMMON_TASK_PREDICT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/task/data_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

inline constexpr char kPredictVerb[] = "predict";
inline constexpr char kPredictHelp[] =
    "Writes what a model makes of examples: of a job's data.test, or of a data "
    "file.";

struct PredictOptions {
  // A `.keras` file, a checkpoint, or the folder of a job's checkpoints.
  std::string model;
  // The job whose data.test is read, with overrides; "": `data` is.
  std::string job_path;
  std::vector<std::string> overrides;
  // A file of features (OpenFeatureFile), or what stands under data.test in a
  // job.
  std::string data;
  // Factor of the features in a file.
  std::optional<double> scale;
  // The file to write, which ends in .npy or .csv.
  std::string output;
  // 0: the job's, or 32, as in Keras.
  int64_t batch_size = 0;
  // "": the job's, or auto.
  std::string device;

  // For data that is named by URLs.
  DataOptions data_access;

  // Adds all options.
  void AddTo(CLI::App& verb);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_PREDICT_OPTIONS_H_
