// `coordinator data`: what a job's data has, and how its first batch looks.
#ifndef PACELINE_WORKER_INSPECTION_SHOW_DATA_H_
#define PACELINE_WORKER_INSPECTION_SHOW_DATA_H_

#include <ostream>

#include "absl/status/status.h"
#include "common/remote_file/remote_files.h"
#include "common/task/data_report_options.h"

namespace paceline {

// Prints the report to `out`, once the picture, if one is wanted, has been
// written. `data_access`: how data that is named by URLs is fetched. `readers`:
// the most threads that read. Errors name the option, the field or the file;
// then nothing is printed, and the picture's file is as it was. Blocks.
absl::Status ShowData(const DataReportOptions& options,
                      const RemoteFilesOptions& data_access, int readers,
                      std::ostream& out);

}  // namespace paceline

#endif  // PACELINE_WORKER_INSPECTION_SHOW_DATA_H_
