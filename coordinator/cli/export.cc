#include "coordinator/cli/export.h"

#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/export/export_checkpoint.h"
#include "common/export/export_model_file.h"

namespace paceline {

absl::Status Export(const ExportOptions& options, std::ostream& out) {
  const std::string format =
      options.format.empty() ? ExportFormatOf(options.output) : options.format;
  const std::string path = options.output.empty()
                               ? absl::StrCat("model", ExportSuffix(format))
                               : options.output;
  RETURN_IF_ERROR(CheckExportPath(format, path));
  std::error_code error;
  if (std::filesystem::is_regular_file(options.model, error)) {
    RETURN_IF_ERROR(ExportModelFile(options.model, format, path));
  } else {
    ASSIGN_OR_RETURN(const std::string folder,
                     FindLatestCheckpoint(options.model));
    RETURN_IF_ERROR(
        ExportCheckpoint(folder, format, path, ExportedValues::kStored));
  }
  out << path << "\n";
  return absl::OkStatus();
}

}  // namespace paceline
