// The values of an epoch by their names, as callbacks and files see them.
#ifndef PACELINE_COMMON_CALLBACK_LOGS_H_
#define PACELINE_COMMON_CALLBACK_LOGS_H_

#include <string>
#include <utility>
#include <vector>

namespace paceline {

// Values of the loss and the metrics by their names.
using Logs = std::vector<std::pair<std::string, double>>;

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_LOGS_H_
