// What a service allows and keeps, as options of `coordinator serve`.
#ifndef PACELINE_COORDINATOR_CLI_SERVE_LIMITS_H_
#define PACELINE_COORDINATOR_CLI_SERVE_LIMITS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/queue/quota.h"
#include "coordinator/service/service_server.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// As people write them.
struct ServeLimits {
  // "": for ever, and any.
  std::string keep_jobs;
  std::string keep_size;
  std::string min_free = "1GiB";
  std::string max_log = "64MiB";
  std::string max_file = "64GiB";
  std::string max_store = "1TiB";
  // "": any. A second.
  std::string max_upload_rate;
  int max_queued = ServiceServerOptions().max_queued;
  std::vector<std::string> quotas;

  // Adds the options to the verb.
  void AddTo(CLI::App& verb);
  // InvalidArgument names the option, the text and what is expected.
  absl::Status ApplyTo(ServiceServerOptions& server) const;
};

// Enters "ann=cores:8,memory:64GiB,gpus:2,jobs:3": at least one of them; what
// is left out has no limit. InvalidArgument, also if the user has a quota.
absl::Status AddQuota(absl::string_view text, Quotas& quotas);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVE_LIMITS_H_
