// A DataReport for people, and for programs.
#ifndef PACELINE_WORKER_INSPECTION_DATA_REPORT_TEXT_H_
#define PACELINE_WORKER_INSPECTION_DATA_REPORT_TEXT_H_

#include <string>

#include "nlohmann/json.hpp"
#include "worker/inspection/data_report.h"

namespace paceline {

// Lines of at most 80 characters, except for names. Of many classes it has the
// first ones; names are safe to print.
std::string DataReportText(const DataReport& report);

// Everything, without the images.
nlohmann::ordered_json DataReportJson(const DataReport& report);

}  // namespace paceline

#endif  // PACELINE_WORKER_INSPECTION_DATA_REPORT_TEXT_H_
