#include "coordinator/cli/serve.h"

#include <sys/stat.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/cluster/listen_address.h"
#include "common/identity/job_secret.h"
#include "common/identity/token.h"
#include "common/process/finish_command.h"
#include "common/rpc/tls.h"
#include "common/task/job_secret_options.h"
#include "common/task/tls_options.h"
#include "coordinator/service/service_server.h"

namespace paceline {
namespace {

// InvalidArgument, with both remedies, if strangers could reach a service that
// has no secret.
absl::StatusOr<std::optional<JobSecret>> FindSecret(
    const ServeOptions& options) {
  const absl::StatusOr<Address> address =
      ParseListenAddress(options.listen_address);
  if (!address.ok()) {
    return Annotate(address.status(),
                    absl::StrCat("--listen: ", options.listen_address));
  }
  ASSIGN_OR_RETURN(
      std::optional<JobSecret> secret,
      FindServiceSecret(options.secret_file, options.environment_secret_file,
                        options.is_insecure));
  // The certificates of TLS tell who is no stranger, too.
  if (!secret && !IsLoopback(*address) && !options.is_insecure &&
      options.tls.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen: ", options.listen_address,
        " can be reached from other machines, and the service has no secret; "
        "expected --secret-file with one for all its daemons "
        "(`openssl rand -hex 32` makes one), the files of TLS, or --insecure "
        "on a network that nobody else reaches"));
  }
  return secret;
}

// The error names the option.
absl::StatusOr<std::string> FindAdminToken(const ServeOptions& options,
                                           bool has_secret) {
  if (options.admin_token_file.empty()) return "";
  if (!has_secret) {
    return absl::InvalidArgumentError(
        "--admin-token-file: the service has no secret, so that whoever "
        "reaches it may do everything without a token; expected --secret-file");
  }
  absl::StatusOr<std::string> token = ReadTokenFile(options.admin_token_file);
  if (!token.ok()) return Annotate(token.status(), "--admin-token-file");
  return token;
}

absl::Status Run(const ServeOptions& options, Interrupt& interrupt) {
  ServiceServerOptions server;
  server.listen_address = options.listen_address;
  server.store_folder = options.store_folder;
  server.version = PACELINE_VERSION;
  ASSIGN_OR_RETURN(server.secret, FindSecret(options));
  ASSIGN_OR_RETURN(server.admin_token,
                   FindAdminToken(options, server.secret.has_value()));
  ASSIGN_OR_RETURN(server.tls, Tls::Load(options.tls));
  RETURN_IF_ERROR(options.limits.ApplyTo(server));
  if (options.is_insecure) {
    std::cerr << "warning: --insecure: whoever reaches "
              << options.listen_address
              << " can submit, stop and read all jobs\n";
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ServiceServer> running,
                   ServiceServer::Start(server));
  if (!running->first_token_path().empty()) {
    std::cerr << "the token of the first admin is in "
              << running->first_token_path() << "\n";
  }
  std::cout << "the coordinator listens on "
            << WithPort(options.listen_address, running->port())
            << " and keeps its jobs in "
            << std::filesystem::absolute(options.store_folder).string()
            << std::endl;
  return running->Run([&] { return interrupt.Taken(); });
}

}  // namespace

void ServeOptions::AddTo(CLI::App& verb) {
  listen_address = absl::StrCat("127.0.0.1:", kDefaultPort);
  store_folder = "paceline-store";
  verb.add_option("--listen", listen_address,
                  "host:port to listen on; port 0 takes a free one.")
      ->capture_default_str();
  verb.add_option("--store", store_folder,
                  "Folder for the queue, the files of jobs and their logs. "
                  "Another coordinator with the same folder goes on from it.")
      ->capture_default_str();
  verb.add_option("--secret-file", secret_file,
                  "File with the service's secret, which its daemons share; "
                  "instead of the environment variable PACELINE_SECRET_FILE. "
                  "Needed beyond this machine. With it, people need a token: "
                  "the first start writes one to admin.token in the store, "
                  "unless there is --admin-token-file.");
  verb.add_option("--admin-token-file", admin_token_file,
                  "File with the token of an admin, `paceline_` and what "
                  "`openssl rand -hex 32` prints. Each start enters it in the "
                  "store, if it is not there, and while it is in the file it "
                  "cannot be revoked.");
  verb.add_flag("--insecure", is_insecure,
                "Without a secret, lets anybody who reaches the coordinator "
                "submit, stop and read jobs.");
  AddTlsOptions(verb, tls);
  limits.AddTo(verb);
}

int Serve(const ServeOptions& options, Interrupt& interrupt) {
  // Jobs' files and logs are nobody else's business.
  umask(S_IRWXG | S_IRWXO);
  return FinishCommand(Run(options, interrupt));
}

}  // namespace paceline
