// Durations as people read them (common/base/option_text.h reads what they
// write).
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_UNITS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_UNITS_H_

#include <string>

#include "absl/time/time.h"

namespace paceline {

// "3s", "2m", "1h5m", "4d2h": the two largest units. Below a second: "0s".
std::string ShortDuration(absl::Duration duration);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_UNITS_H_
