// A table of text for people.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_TABLE_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_TABLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace paceline {

// Lines with columns of equal width, two spaces apart; empty cells are "-".
// Cells may come from other processes: they are made safe to print. Each row
// has as many cells as the first, which has the columns' names. `margin` begins
// each line.
std::string TableText(const std::vector<std::vector<std::string>>& rows,
                      absl::string_view margin = "");

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_TABLE_H_
