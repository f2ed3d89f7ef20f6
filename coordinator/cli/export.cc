#include "coordinator/cli/export.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/export/export_checkpoint.h"

namespace paceline {

absl::Status Export(const ExportOptions& options, std::ostream& out) {
  const std::string format =
      options.format.empty() ? ExportFormatOf(options.output) : options.format;
  const std::string path = options.output.empty()
                               ? absl::StrCat("model", ExportSuffix(format))
                               : options.output;
  RETURN_IF_ERROR(CheckExportPath(format, path));
  ASSIGN_OR_RETURN(const std::string folder,
                   FindLatestCheckpoint(options.checkpoint));
  RETURN_IF_ERROR(
      ExportCheckpoint(folder, format, path, ExportedValues::kStored));
  out << path << "\n";
  return absl::OkStatus();
}

}  // namespace paceline
