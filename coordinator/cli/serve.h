// `coordinator serve`: the coordinator of a service.
#ifndef PACELINE_COORDINATOR_CLI_SERVE_H_
#define PACELINE_COORDINATOR_CLI_SERVE_H_

#include <string>

#include "common/process/interrupt.h"
#include "common/tls/tls_files.h"
#include "coordinator/cli/serve_limits.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

struct ServeOptions {
  std::string listen_address;
  std::string store_folder;
  // A file with the service's secret, and that of the environment; "": there is
  // none.
  std::string secret_file;
  std::string environment_secret_file;
  // A file with the token of an admin; "": the first start makes one.
  std::string admin_token_file;
  bool is_insecure = false;
  TlsFiles tls;
  ServeLimits limits;

  // Adds the options to the verb.
  void AddTo(CLI::App& verb);
};

// Serves until a signal comes. Prints where it listens. Returns the exit code.
int Serve(const ServeOptions& options, Interrupt& interrupt);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVE_H_
