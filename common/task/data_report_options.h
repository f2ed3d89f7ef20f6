// The command line of `coordinator data`, and of the worker that it becomes.
#ifndef PACELINE_COMMON_TASK_DATA_REPORT_OPTIONS_H_
#define PACELINE_COMMON_TASK_DATA_REPORT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/task/data_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

inline constexpr char kDataVerb[] = "data";
inline constexpr char kDataHelp[] =
    "Shows the data of a job: examples, shapes, classes, histograms, and "
    "the first batch as a picture.";

struct DataReportOptions {
  std::string job_path;
  std::vector<std::string> overrides;
  // Examples of each data set whose values are counted; 0: as many as have
  // kReportedValues values (data_report.h).
  int64_t examples = 0;
  // The file for the first batch; nullopt: none.
  std::optional<std::string> png;
  // What is printed: text or json.
  std::string format = "text";

  // For data that is named by URLs.
  DataOptions data_access;

  // Adds all options.
  void AddTo(CLI::App& verb);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_DATA_REPORT_OPTIONS_H_
