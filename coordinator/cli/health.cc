#include "coordinator/cli/health.h"

#include <iostream>
#include <memory>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/exit_code.h"
#include "common/base/peer_text.h"
#include "common/cluster/address.h"
#include "common/process/finish_command.h"
#include "common/rpc/health_client.h"
#include "common/rpc/tls.h"
#include "common/task/tls_options.h"

namespace paceline {

void HealthOptions::AddTo(CLI::App& verb) {
  verb.add_option("ADDRESS", address, "host:port that the server listens on.")
      ->required();
  verb.add_option("--service", service,
                  "readiness: it can do its work; liveness: the process "
                  "answers, and its main loop goes on.")
      ->check(CLI::IsMember({"readiness", "liveness"}))
      ->capture_default_str();
  verb.add_option("--timeout", timeout_seconds,
                  "Seconds that the answer may take.")
      ->check(CLI::Range(0.1, 60.0))
      ->capture_default_str();
  AddTlsOptions(verb, tls);
}

int ProbeHealth(const HealthOptions& options, Interrupt& interrupt) {
  const absl::StatusOr<Address> address = ParseAddress(options.address);
  if (!address.ok()) {
    return FinishCommand(absl::InvalidArgumentError(absl::StrCat(
        "ADDRESS: \"", PeerText(options.address),
        "\": ", address.status().message(), "; expected HOST:PORT")));
  }
  const absl::StatusOr<std::shared_ptr<const Tls>> tls = Tls::Load(options.tls);
  if (!tls.ok()) return FinishCommand(tls.status());
  const absl::Status health =
      CheckHealth(address->ToString(), tls->get(), options.service,
                  absl::Seconds(options.timeout_seconds),
                  [&] { return interrupt.Taken(); });
  if (health.ok()) return kSuccess;
  // Whatever the server answers is no wrong use.
  std::cerr << "error: " << health.message() << "\n";
  return absl::IsCancelled(health) ? kStopped : kJobFailed;
}

}  // namespace paceline
