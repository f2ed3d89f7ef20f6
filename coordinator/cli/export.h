// `coordinator export`: writes a checkpoint as a file that others read.
#ifndef PACELINE_COORDINATOR_CLI_EXPORT_H_
#define PACELINE_COORDINATOR_CLI_EXPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace paceline {

struct ExportOptions {
  // A checkpoint, or the folder of a job's checkpoints, of which it takes the
  // latest.
  std::string checkpoint;
  // One of ExportFormats; "": that of the output's suffix.
  std::string format;
  // "": "model" with the format's suffix, in the working folder. A file that is
  // there is replaced.
  std::string output;
};

// Prints the path of the file that it wrote. Errors are those of
// CheckExportPath, FindLatestCheckpoint and ExportCheckpoint.
absl::Status Export(const ExportOptions& options, std::ostream& out);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_EXPORT_H_
