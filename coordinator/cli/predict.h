// `coordinator predict`: writes what a model makes of examples.
#ifndef PACELINE_COORDINATOR_CLI_PREDICT_H_
#define PACELINE_COORDINATOR_CLI_PREDICT_H_

#include <string>

#include "absl/status/status.h"

namespace paceline {

// Replaces this program by the `worker` in `program_folder`, with the same
// command line, which worker knows too: a prediction takes one process, and the
// devices are there. Returns only on an error.
absl::Status BecomeWorker(const std::string& program_folder, char** argv);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_PREDICT_H_
