// The file of a model's outputs.
#ifndef PACELINE_WORKER_EVALUATION_PREDICTION_FILE_H_
#define PACELINE_WORKER_EVALUATION_PREDICTION_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/atomic_file.h"
#include "common/tensor/shape.h"

namespace paceline {

// InvalidArgument unless the path ends in the suffix of a format: `.npy` or
// `.csv`.
absl::Status CheckPredictionPath(const std::string& path);

// The path of the file of each output of a model, given the outputs' names:
// `path` itself for one output; of several, "digit" gives
// `predictions-digit.npy` for `predictions.npy`. A name that comes again gets a
// suffix, as in Keras: `predictions-digit_1.npy`. `path` must have passed
// CheckPredictionPath.
std::vector<std::string> PathsOfOutputs(absl::string_view path,
                                        absl::Span<const std::string> names);

// Written as the outputs come; there is no file before Commit. Not thread-safe.
// Errors name the path. Blocks on the disk.
class PredictionFile {
 public:
  // `path` must have passed CheckPredictionPath. `shape`: that of the output of
  // one example.
  //
  // `.npy`: float32 of shape [examples, shape...]. `.csv`: a row of the
  // elements of each example, with as many digits as tell all float32 apart,
  // and no header, as numpy.savetxt writes and numpy.loadtxt reads it.
  static absl::StatusOr<std::unique_ptr<PredictionFile>> Create(
      const std::string& path, int64_t example_count, const Shape& shape);

  // The outputs of the next examples, whole ones.
  absl::Status Append(absl::Span<const float> outputs);

  // Call it after the outputs of all examples.
  absl::Status Commit() { return file_->Commit(); }

 private:
  PredictionFile(std::unique_ptr<AtomicFile> file, int64_t row_size,
                 bool is_text)
      : file_(std::move(file)), row_size_(row_size), is_text_(is_text) {}

  const std::unique_ptr<AtomicFile> file_;
  // Elements of the output of one example.
  const int64_t row_size_;
  const bool is_text_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_PREDICTION_FILE_H_
