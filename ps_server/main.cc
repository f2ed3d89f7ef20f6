// ps_server: holds a shard of a job's variables. See --help.

#include <malloc.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "common/base/freed_memory.h"
#include "common/daemon/daemon_options.h"
#include "common/daemon/daemon_program.h"
#include "common/process/descriptor_limit.h"
#include "common/process/interrupt.h"
#include "common/process/leave_order.h"
#include "common/process/lock_checks.h"
#include "common/process/logging.h"
#include "common/task/task_program.h"
#include "ps_server/ps_server.h"

int main(int argc, char** argv) {
  // Each push needs buffers of megabytes for a moment. With a single arena,
  // malloc reuses them, instead of keeping some for each thread that serves
  // calls.
  mallopt(M_ARENA_MAX, 1);
  paceline::KeepFreedMemory();
  paceline::RaiseDescriptorLimit();
  paceline::TurnOffDeadlockDetection();
  paceline::StartLogging("ps_server", /*quiet=*/false);
  CLI::App app(
      "Holds a shard of a job's variables and applies the gradients that "
      "workers push. Its place comes from TF_CONFIG, or from --coordinator and "
      "--index; the leader tells it the job. With --coordinator alone it is a "
      "daemon, which runs such tasks for the jobs of a service.");
  app.set_version_flag("--version", PACELINE_VERSION);
  paceline::TaskProgram program(paceline::TaskType::kPs);
  program.AddOptions(app);
  paceline::DaemonFlags daemon;
  daemon.AddTo(app);
  if (const auto code = paceline::ParseCommandLine(
          program.type(), PACELINE_VERSION, app, argc, argv)) {
    return *code;
  }

  if (program.IsDaemon()) {
    return paceline::ExitWith(paceline::RunDaemonProgram(
        daemon, program, PACELINE_VERSION, std::getenv));
  }

  // Before threads start, which must not take signals.
  absl::StatusOr<std::unique_ptr<paceline::Interrupt>> interrupt =
      paceline::Interrupt::Watch();
  if (!interrupt.ok()) return paceline::ExitWith(interrupt.status());
  paceline::LeaveOrder& leave = paceline::LeaveOnSignal(*std::move(interrupt));
  const auto place =
      program.Resolve(paceline::TaskEnvironment::From(std::getenv));
  if (!place.ok()) return paceline::ExitWith(place.status());
  paceline::PsServerOptions options;
  options.member = program.MemberFor(*place, PACELINE_VERSION);
  options.fence = program.fence();
  options.leave = &leave;
  options.secret = place->secret;
  options.listen_address = place->listen_address;
  options.advertised_address = place->advertised_address;
  return paceline::ExitWith(paceline::RunPsServer(std::move(options)));
}
