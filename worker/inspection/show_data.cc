#include "worker/inspection/show_data.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/job/job_reader.h"
#include "worker/inspection/data_report.h"
#include "worker/inspection/data_report_text.h"

namespace paceline {

absl::Status ShowData(const DataReportOptions& options,
                      const RemoteFilesOptions& data_access, int readers,
                      std::ostream& out) {
  if (!options.png.empty() && !absl::EndsWith(options.png, ".png")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--png ", options.png, "; expected a file that ends in .png"));
  }
  // Only data needs to be on this machine, which is opened below.
  ASSIGN_OR_RETURN(
      const v1::Job job,
      ReadJobFile(options.job_path, options.overrides, {.check_files = false}));
  DataReportRequest request;
  request.examples = options.examples;
  request.wants_sheet = !options.png.empty();
  request.readers = readers;
  ASSIGN_OR_RETURN(const DataReport report,
                   MakeDataReport(job, request, RemoteFiles(data_access)));
  if (report.sheet) {
    ASSIGN_OR_RETURN(const std::string png, report.sheet->EncodePng());
    RETURN_IF_ERROR(WriteFileAtomically(options.png, png));
  }
  if (options.format == "json") {
    // A path may be no UTF-8.
    out << DataReportJson(report).dump(2, ' ', false,
                                       nlohmann::json::error_handler_t::replace)
        << '\n';
  } else {
    out << DataReportText(report);
  }
  return absl::OkStatus();
}

}  // namespace paceline
