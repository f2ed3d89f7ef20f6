#include "coordinator/cli/export.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/export/export_checkpoint.h"
#include "common/export/export_model_file.h"

namespace paceline {

namespace {

// InvalidArgument if neither --format nor the file's name tells it.
absl::StatusOr<std::string> FormatOf(const ExportOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string format = ExportFormatOf(options.output);
  if (options.output.empty() ||
      absl::EndsWith(options.output, ExportSuffix(format))) {
    return format;
  }
  std::vector<std::string> suffixes;
  for (const std::string& each : ExportFormats()) {
    suffixes.push_back(ExportSuffix(each));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--output: ", options.output, ": its suffix is of no format; expected ",
      absl::StrJoin(suffixes, ", "), ", or --format"));
}

}  // namespace

absl::Status Export(const ExportOptions& options, std::ostream& out) {
  ASSIGN_OR_RETURN(const std::string format, FormatOf(options));
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
