// `coordinator export`: writes a model as a file that others read.
#ifndef PACELINE_COORDINATOR_CLI_EXPORT_H_
#define PACELINE_COORDINATOR_CLI_EXPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace paceline {

struct ExportOptions {
  // A checkpoint, the folder of a job's checkpoints, of which it takes the
  // latest, or a `.keras` file or a legacy `.h5`.
  std::string model;
  // One of ExportFormats; "": that of the output's suffix.
  std::string format;
  // "": "model" with the format's suffix, in the working folder. A file that is
  // there is replaced.
  std::string output;
};

// Prints the path of the file that it wrote. Errors are those of
// CheckExportPath, FindLatestCheckpoint, ExportCheckpoint and
// ExportModelFile.
absl::Status Export(const ExportOptions& options, std::ostream& out);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_EXPORT_H_
