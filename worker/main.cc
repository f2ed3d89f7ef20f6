// worker: computes gradients. See --help.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "common/process/logging.h"
#include "common/process/task_program.h"
#include "worker/worker.h"

int main(int argc, char** argv) {
  const absl::Time start = absl::Now();
  paceline::StartLogging("worker", /*quiet=*/false);
  CLI::App app(
      "Computes gradients of a job's model and pushes them to its parameter "
      "servers. Its place comes from TF_CONFIG, or from --coordinator and "
      "--index; the leader tells it the job.");
  app.set_version_flag("--version", PACELINE_VERSION);
  paceline::TaskProgram program(paceline::TaskType::kWorker);
  program.AddOptions(app);
  int threads =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  app.add_option("--threads", threads, "Threads that compute.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);

  const char* tf_config = std::getenv("TF_CONFIG");
  const auto place = program.Resolve(tf_config == nullptr ? "" : tf_config);
  if (!place.ok()) return paceline::ExitWith(place.status());
  paceline::WorkerOptions options;
  options.member = program.MemberFor(*place, PACELINE_VERSION);
  options.threads = threads;
  options.process_start = start;
  return paceline::ExitWith(paceline::RunWorker(options));
}
