// The options of `coordinator submit`, and the message that they make.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_SUBMISSION_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_SUBMISSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/cli/service/bundle.h"
#include "paceline/v1/queue.pb.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// What each task of a group needs, as people write it.
struct GroupOptions {
  std::string cores = "1";
  std::string memory;
  uint64_t gpus = 0;
  // "key=value".
  std::vector<std::string> labels;
};

struct SubmitOptions {
  std::string job_path;
  // "path.to.field=value".
  std::vector<std::string> overrides;
  // "": the job's.
  std::string name;
  int32_t priority = 0;
  // "": drawn, so that no retry of this submission makes a second job.
  std::string idempotency_key;
  uint32_t retries = 0;
  // "": none.
  std::string timeout;
  GroupOptions worker;
  GroupOptions ps;

  // Adds all but the job's path.
  void AddTo(CLI::App& app);
};

// InvalidArgument names the option, its value and what is expected.
absl::StatusOr<v1::Submission> MakeSubmission(const SubmitOptions& options,
                                              const JobBundle& bundle);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_SUBMISSION_H_
