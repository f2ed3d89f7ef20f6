#include "worker/inspection/show_data.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/job/job_reader.h"
#include "worker/inspection/data_report.h"
#include "worker/inspection/data_report_text.h"

namespace paceline {

namespace {

// Before data is read, which may take long.
absl::Status CheckPng(const std::string& png) {
  if (!absl::EndsWith(png, ".png")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--png ", png.empty() ? "\"\"" : png,
                     "; expected a file that ends in .png"));
  }
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::absolute(png, error).parent_path();
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--png ", png, "; expected a file in a folder that is there, not ",
        folder.string()));
  }
  if (std::filesystem::is_directory(png, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--png ", png, " is a folder; expected a file"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ShowData(const DataReportOptions& options,
                      const RemoteFilesOptions& data_access, int readers,
                      std::ostream& out) {
  if (options.png) RETURN_IF_ERROR(CheckPng(*options.png));
  // Only data needs to be on this machine, which is opened below.
  ASSIGN_OR_RETURN(
      const v1::Job job,
      ReadJobFile(options.job_path, options.overrides, {.check_files = false}));
  DataReportRequest request;
  request.examples = options.examples;
  request.wants_sheet = options.png.has_value();
  request.readers = readers;
  ASSIGN_OR_RETURN(const DataReport report,
                   MakeDataReport(job, request, RemoteFiles(data_access)));
  if (report.sheet) {
    ASSIGN_OR_RETURN(const std::string png, report.sheet->EncodePng());
    RETURN_IF_ERROR(WriteFileAtomically(*options.png, png));
  }
  if (options.format == "json") {
    // A path may be no UTF-8.
    out << DataReportJson(report).dump(2, ' ', false,
                                       nlohmann::json::error_handler_t::replace)
        << '\n';
  } else {
    out << DataReportText(report);
  }
  if (!out.flush())
    return absl::DataLossError("cannot write to standard output");
  return absl::OkStatus();
}

}  // namespace paceline
