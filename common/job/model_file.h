// Jobs whose model is a Keras file.
#ifndef PACELINE_COMMON_JOB_MODEL_FILE_H_
#define PACELINE_COMMON_JOB_MODEL_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/config/value.h"
#include "common/job/job_files.h"
#include "common/keras/initial_weights.h"
#include "common/keras/model_weights.h"
#include "common/model/graph.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// What a document took from the files of its models; empty if it was given.
struct TakenFromFile {
  // The files, with their paths as the document has them.
  std::vector<JobFile> files;
  // The path of the model's file.
  std::string weights;
  std::string optimizer_class;
};

// If `model` in the document of the job file `job_path` is the path of a
// `.keras` file, or of a `.json` with what Keras' to_json() gives, replaces it
// by the file's model. Unless the document says otherwise, `weights` becomes
// that path, `loss`, `optimizer`, `metrics` and `weighted_metrics` what the
// model was compiled with, and `precision` the policy of its layers. If `model`
// is spelled out, each Model among its layers that has a `path` and no layers
// gets those of that file. Errors are at `model` or at that `path`, and name
// the file and the path in it. Blocks on the disk.
// `may_read` is asked before a file is opened; null: all may be.
absl::StatusOr<TakenFromFile> LoadModelFile(const std::string& job_path,
                                            const FileCheck& may_read,
                                            Value& document);

// A model in a file, for those who look at it without a job.
struct ModelFile {
  Graph graph;
  // Null of a `.json` file.
  std::unique_ptr<ModelWeights> weights;
};

// Errors name the file and the path in it. Blocks on the disk.
absl::StatusOr<ModelFile> OpenModelFile(const std::string& path);

// Opens the job's `weights` and those of models in its model, if it has some.
// If the class of the optimizer is still that of the model's file, and so are
// `weights`, or these are a checkpoint of TensorFlow, sets initial_iterations
// to the number of updates that the optimizer has made there, unless names
// decide what is taken. Errors are those of OpenWeights.
absl::Status CheckWeights(const TakenFromFile& taken, v1::Job& job);

// Opens the files that the job takes initial values from, and compares them
// with the job's `graph`, and with the slots of its optimizer if that goes on;
// null if there are none. InvalidArgument if the optimizer goes on from a file
// whose layers are found by name.
absl::StatusOr<std::unique_ptr<InitialWeights>> OpenWeights(const v1::Job& job,
                                                            const Graph& graph);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_MODEL_FILE_H_
