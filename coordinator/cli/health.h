// `coordinator health`: a probe of a server, also over TLS.
#ifndef PACELINE_COORDINATOR_CLI_HEALTH_H_
#define PACELINE_COORDINATOR_CLI_HEALTH_H_

#include <string>

#include "common/process/interrupt.h"
#include "common/tls/tls_files.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

struct HealthOptions {
  // "host:port".
  std::string address;
  std::string service = "readiness";
  double timeout_seconds = 5;
  TlsFiles tls;

  // Adds the options to the verb.
  void AddTo(CLI::App& verb);
};

// Asks once. Returns the exit code: kSuccess if the service serves, kBadInput
// if the options are wrong, kStopped after a signal, else kJobFailed; all but
// the first with an error on the standard error.
int ProbeHealth(const HealthOptions& options, Interrupt& interrupt);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_HEALTH_H_
