// A model in a Keras file as a file that others read.
#ifndef PACELINE_COMMON_EXPORT_EXPORT_MODEL_FILE_H_
#define PACELINE_COMMON_EXPORT_EXPORT_MODEL_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Writes the model in the `.keras` file or legacy `.h5` `model` to `path`,
// atomically, in one of ExportFormats. Memory does not grow with the model, but
// for compressed members of the archive.
//
// "weights" are those that a `.keras` has, with its optimizer's state, byte by
// byte. InvalidArgument for "weights" of another file, for "keras", and if
// `path` is the file itself; else errors are those of OpenModelFile, and as for
// ExportCheckpoint. Blocks on the disk.
absl::Status ExportModelFile(const std::string& model, absl::string_view format,
                             const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_EXPORT_EXPORT_MODEL_FILE_H_
