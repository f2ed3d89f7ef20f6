#include "coordinator/cli/summary.h"

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/job/model_file.h"
#include "common/keras/model_summary.h"

namespace paceline {

absl::Status Summarize(const std::string& path, int columns,
                       std::ostream& out) {
  ASSIGN_OR_RETURN(const ModelFile file, OpenModelFile(path));
  SummaryOptions options = {.columns = columns};
  if (file.weights != nullptr)
    options.optimizer = file.weights->OptimizerSize();
  out << SummarizeModel(file.graph, options);
  return absl::OkStatus();
}

}  // namespace paceline
