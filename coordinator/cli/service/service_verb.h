// What the verbs that talk to a service have in common.
//
// A verb is one class, in one file, and one line in the table of
// service_verbs.cc.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_SERVICE_VERB_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_SERVICE_VERB_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/rpc/service_client.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// What a verb works with.
struct VerbContext {
  ServiceClient& client;
  // What was asked for.
  std::ostream& out;
  // Whether `out` is a terminal.
  bool is_terminal = false;
  // What people should know besides.
  std::ostream& messages;
  // Whether the user has interrupted the program. The client's calls then end
  // with Cancelled.
  std::function<bool()> is_interrupted;
  // How long a coordinator that does not answer, but has answered before, is
  // asked again by verbs that wait for no job.
  absl::Duration patience = absl::Seconds(30);
};

class ServiceVerb {
 public:
  virtual ~ServiceVerb() = default;

  virtual const char* name() const = 0;
  virtual const char* help() const = 0;
  // Adds the verb's options, which must stay where they are.
  virtual void AddTo(CLI::App& app) = 0;
  // Returns the exit code, or an error that is still to be printed.
  virtual absl::StatusOr<int> Run(const VerbContext& context) = 0;
};

std::unique_ptr<ServiceVerb> MakeSubmitVerb();
std::unique_ptr<ServiceVerb> MakeListVerb();
std::unique_ptr<ServiceVerb> MakeDescribeVerb();
std::unique_ptr<ServiceVerb> MakeLogsVerb();
std::unique_ptr<ServiceVerb> MakeWaitVerb();
std::unique_ptr<ServiceVerb> MakeStopVerb();
std::unique_ptr<ServiceVerb> MakeDeleteVerb();
std::unique_ptr<ServiceVerb> MakeDownloadVerb();
std::unique_ptr<ServiceVerb> MakeMembersVerb();
std::unique_ptr<ServiceVerb> MakeDrainVerb();
std::unique_ptr<ServiceVerb> MakeTokenVerb();

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_SERVICE_VERB_H_
