// `coordinator summary`: draws the model in a Keras file.
#ifndef PACELINE_COORDINATOR_CLI_SUMMARY_H_
#define PACELINE_COORDINATOR_CLI_SUMMARY_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace paceline {

// Prints what Keras' model.summary() prints on a terminal of `columns`
// characters. `path`: a `.keras` file. Errors are those of OpenModelFile.
absl::Status Summarize(const std::string& path, int columns, std::ostream& out);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SUMMARY_H_
