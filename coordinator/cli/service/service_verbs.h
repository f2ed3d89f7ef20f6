// The verbs of the program coordinator that talk to a coordinator which serves.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_SERVICE_VERBS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_SERVICE_VERBS_H_

#include <memory>
#include <utility>
#include <vector>

#include "common/process/interrupt.h"
#include "coordinator/cli/service/connection.h"
#include "coordinator/cli/service/service_verb.h"

namespace paceline {

class ServiceVerbs {
 public:
  // `options` has the environment and the path of the file with contexts.
  explicit ServiceVerbs(ConnectionOptions options);

  // Adds a subcommand for each verb to the program, which this object must
  // outlive.
  void AddTo(CLI::App& app);

  // Whether one of them was on the command line.
  bool parsed() const;

  // Runs that one; prints to the standard output and error, and returns the
  // exit code. Call from the main thread.
  int Run(Interrupt& interrupt);

 private:
  // Each with its subcommand; null before AddTo.
  std::vector<std::pair<std::unique_ptr<ServiceVerb>, CLI::App*>> verbs_;
  ConnectionOptions options_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_SERVICE_VERBS_H_
