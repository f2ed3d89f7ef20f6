// Where the coordinator of a service is, and the secret that it asks for.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_CONNECTION_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_CONNECTION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/identity/job_secret.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// Environment variables for the options below.
inline constexpr char kCoordinatorVariable[] = "PACELINE_COORDINATOR";
inline constexpr char kServiceSecretFileVariable[] = "PACELINE_SECRET_FILE";

struct ConnectionOptions {
  // The values of --coordinator, --context and --secret-file.
  std::string coordinator;
  std::string context;
  std::string secret_file;
  // The values of the environment variables; "": unset.
  std::string environment_coordinator;
  std::string environment_secret_file;
  // The file with contexts; it need not exist.
  //
  //   current-context: lab
  //   contexts:
  //     lab: {address: "10.0.0.1:2222", secret-file: lab.secret}
  std::string config_path;

  // Adds the three options.
  void AddTo(CLI::App& app);
};

struct Connection {
  // "host:port".
  std::string address;
  std::optional<JobSecret> secret;
};

// The address is that of --coordinator, else of --context, else of the
// environment, else of the file's current context; the secret's file likewise,
// where an address that does not come from a context leaves contexts out.
// InvalidArgument names all three ways if there is no address, and the file and
// its line if that is wrong. Blocks on files.
absl::StatusOr<Connection> FindConnection(const ConnectionOptions& options);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_CONNECTION_H_
