// What the manual pages of `worker` and `ps_server` say besides options.
#ifndef PACELINE_COMMON_TASK_TASK_MANUAL_H_
#define PACELINE_COMMON_TASK_TASK_MANUAL_H_

#include "common/cluster/task.h"
#include "common/command_line/manual_page.h"

namespace paceline {

// paceline-worker(8) for a worker, paceline-ps_server(8) for a parameter
// server.
ManualText TaskManualText(TaskType type);

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_TASK_MANUAL_H_
