// A checkpoint as a file that others read.
#ifndef PACELINE_COMMON_EXPORT_EXPORT_CHECKPOINT_H_
#define PACELINE_COMMON_EXPORT_EXPORT_CHECKPOINT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// The names of the formats. "keras" is the model, compiled, with its weights
// and its optimizer's state. "weights" is only the latter two, as
// `.weights.h5`. "h5" has all that "keras" has, as Keras' legacy
// format. "safetensors" has the variables by their names:
// "dense/kernel". "onnx" is the model as it predicts, for other runtimes.
std::vector<std::string> ExportFormats();

// The suffix of files of a format: ".keras".
std::string ExportSuffix(absl::string_view format);

// The format whose suffix `path` has; "keras" if it has none of them.
std::string ExportFormatOf(absl::string_view path);

// InvalidArgument if `path` has the extension of another format, as "model.h5"
// for "keras" has: readers go by it. Others, and none, are the user's choice.
absl::Status CheckExportPath(absl::string_view format, const std::string& path);

// What a file has as the values of trained variables. Without averages (the
// optimizer has no use_ema, or has made no update) all are the same.
enum class ExportedValues {
  // Those of the checkpoint, with which training goes on.
  kStored,
  // What the end of training makes of them: their averages. As Keras' fit
  // leaves a model.
  kFinal,
  // Their averages, and as those the values of the checkpoint. As Keras'
  // SwapEMAWeights has a model for a while.
  kSwapped,
};

// Writes the checkpoint in `folder` to the file `path`, atomically. Reads the
// shards' files as it writes, so memory does not grow with the model.
// FailedPrecondition if an earlier release wrote the checkpoint, which did not
// store the model; else the errors of CheckpointReader and of the
// format's writer: WriteKerasModel, WriteLegacyModel, WriteOnnx.
// Blocks on the disk.
absl::Status ExportCheckpoint(const std::string& folder,
                              absl::string_view format, const std::string& path,
                              ExportedValues values);

}  // namespace paceline

#endif  // PACELINE_COMMON_EXPORT_EXPORT_CHECKPOINT_H_
