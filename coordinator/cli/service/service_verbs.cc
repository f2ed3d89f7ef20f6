#include "coordinator/cli/service/service_verbs.h"

#include <unistd.h>

#include <atomic>
#include <iostream>
#include <optional>

#include "CLI/CLI.hpp"
#include "common/base/exit_code.h"
#include "common/base/status_macros.h"
#include "common/base/ticker.h"
#include "common/process/finish_command.h"
#include "common/rpc/incarnation.h"

namespace paceline {
namespace {

constexpr absl::Duration kInterruptInterval = absl::Milliseconds(50);

using MakeVerb = std::unique_ptr<ServiceVerb> (*)();

// In the order of --help.
constexpr MakeVerb kVerbs[] = {
    MakeSubmitVerb,  MakeListVerb,  MakeDescribeVerb, MakeLogsVerb,
    MakeWaitVerb,    MakeStopVerb,  MakeDownloadVerb, MakeDeleteVerb,
    MakeMembersVerb, MakeDrainVerb, MakeTokenVerb,
};

absl::StatusOr<int> RunVerb(ServiceVerb& verb, const ConnectionOptions& options,
                            Interrupt& interrupt) {
  ASSIGN_OR_RETURN(const Connection connection, FindConnection(options));
  if (!connection.warning.empty()) {
    std::cerr << "warning: " << connection.warning << "\n";
  }
  v1::Task self;
  self.set_type(v1::TASK_TYPE_CHIEF);
  ServiceClient client(
      connection.address,
      std::make_shared<Caller>(self, DrawIncarnation(), connection.secret,
                               connection.tls, connection.token));
  std::atomic<bool> is_interrupted = false;
  // Ends a call that waits, too.
  const Ticker watch(kInterruptInterval, [&] {
    if (!interrupt.Taken()) return;
    is_interrupted = true;
    client.CancelAll();
  });
  return verb.Run({.client = client,
                   .out = std::cout,
                   .is_terminal = isatty(STDOUT_FILENO) == 1,
                   .messages = std::cerr,
                   .is_interrupted = [&] { return is_interrupted.load(); }});
}

}  // namespace

ServiceVerbs::ServiceVerbs(ConnectionOptions options)
    : options_(std::move(options)) {
  for (const MakeVerb make : kVerbs) verbs_.emplace_back(make(), nullptr);
}

void ServiceVerbs::AddTo(CLI::App& app) {
  for (auto& [verb, subcommand] : verbs_) {
    subcommand = app.add_subcommand(verb->name(), verb->help());
    verb->AddTo(*subcommand);
    options_.AddTo(*subcommand);
  }
}

bool ServiceVerbs::parsed() const {
  for (const auto& [verb, subcommand] : verbs_) {
    if (subcommand->parsed()) return true;
  }
  return false;
}

int ServiceVerbs::Run(Interrupt& interrupt) {
  for (const auto& [verb, subcommand] : verbs_) {
    if (!subcommand->parsed()) continue;
    const absl::StatusOr<int> code = RunVerb(*verb, options_, interrupt);
    return code.ok() ? *code : FinishCommand(code.status());
  }
  return kBadInput;
}

}  // namespace paceline
