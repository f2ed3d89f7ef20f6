// What the manual page paceline(1) says besides commands.
#ifndef PACELINE_COORDINATOR_CLI_MANUAL_TEXT_H_
#define PACELINE_COORDINATOR_CLI_MANUAL_TEXT_H_

#include "common/command_line/manual_page.h"

namespace paceline {

ManualText CoordinatorManualText();

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_MANUAL_TEXT_H_
