// Where the coordinator of a service is, and the secret or token that it asks
// for.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_CONNECTION_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_CONNECTION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/identity/job_secret.h"
#include "common/rpc/tls.h"
#include "common/tls/tls_files.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// The environment variables for the options below. That for the secret's file
// is kServiceSecretFileVariable (common/task/job_secret_options.h).
inline constexpr char kCoordinatorVariable[] = "PACELINE_COORDINATOR";
inline constexpr char kTokenFileVariable[] = "PACELINE_TOKEN_FILE";

struct ConnectionOptions {
  // The values of --coordinator, --context, --secret-file, --token-file and
  // those of TLS.
  std::string coordinator;
  std::string context;
  std::string secret_file;
  std::string token_file;
  TlsFiles tls;
  // The values of the environment variables; "": unset.
  std::string environment_coordinator;
  std::string environment_secret_file;
  std::string environment_token_file;
  // The file with contexts; it need not exist.
  //
  //   current-context: lab
  //   contexts:
  //     lab: {address: "lab:2222", token-file: lab.token,
  //           tls-cert: me.pem, tls-key: me.key, tls-ca: lab-ca.pem}
  std::string config_path;

  // Adds the options.
  void AddTo(CLI::App& app);
};

struct Connection {
  // "host:port".
  std::string address;
  std::optional<JobSecret> secret;
  // "": none.
  std::string token;
  // That others may read the token's file, which is allowed: it may be mounted
  // so. "": they may not.
  std::string warning;
  // Null: the connection is plain.
  std::shared_ptr<const Tls> tls;
};

// The address is that of --coordinator, else of --context, else of the
// environment, else of the file's current context; the files of the secret, of
// the token and of TLS likewise, where an address that does not come from a
// context leaves contexts out.
// InvalidArgument names all three ways if there is no address, and the file and
// its line if that is wrong; or says so if the token would be sent over a plain
// connection that leaves this machine. Blocks on files.
absl::StatusOr<Connection> FindConnection(const ConnectionOptions& options);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_CONNECTION_H_
