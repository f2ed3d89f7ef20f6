// model_benchmark: times the training steps of a job's model. See --help.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/freed_memory.h"
#include "common/base/status_macros.h"
#include "common/job/job_reader.h"
#include "common/process/openmp_waits.h"
#include "nlohmann/json.hpp"
#include "tests/benchmark/model_step.h"
#include "worker/device/cpu/parallel.h"

namespace paceline {
namespace {

struct Flags {
  std::string job_path;
  std::vector<std::string> overrides;
  std::string device = "cpu";
  int threads = 1;
  int64_t batch_size = 16;
};

// Runs `count` steps, and prints the mean time of one.
absl::Status TimeSteps(ModelStep& step, const ModelBatch& batch, int count) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) RETURN_IF_ERROR(step.Run(batch));
  ASSIGN_OR_RETURN(const double loss, step.TakeLoss());
  const std::chrono::duration<double> duration =
      std::chrono::steady_clock::now() - start;
  // JSON writes a loss that is NaN or infinite as null.
  const nlohmann::ordered_json report = {{"seconds", duration.count() / count},
                                         {"loss", loss}};
  std::cout << report.dump() << std::endl;
  return absl::OkStatus();
}

absl::Status Serve(ModelStep& step) {
  const ModelBatch batch = step.SomeBatch();
  std::string line;
  while (std::getline(std::cin, line)) {
    int count = 0;
    if (!absl::SimpleAtoi(line, &count) || count < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("stdin: '", line, "'; expected a number of steps"));
    }
    RETURN_IF_ERROR(TimeSteps(step, batch, count));
  }
  return absl::OkStatus();
}

absl::Status Run(Flags flags) {
  JobReaderOptions reader;
  reader.check_files = false;
  flags.overrides.push_back(absl::StrCat("device=", flags.device));
  ASSIGN_OR_RETURN(v1::Job job,
                   ReadJobFile(flags.job_path, flags.overrides, reader));
  cpu::PrepareThread(flags.threads);
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ModelStep> step,
      ModelStep::Make(std::move(job), flags.threads, flags.batch_size));
  return Serve(*step);
}

// As in worker/main.cc.
void SetOpenMpWaits(char** argv) {
  if (std::getenv(kOpenMpWaits[0].name) != nullptr) return;
  for (const auto& [name, value] : kOpenMpWaits) setenv(name, value, 0);
  execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  paceline::SetOpenMpWaits(argv);
  paceline::KeepFreedMemory();
  CLI::App app(
      "Times training steps of a job's model on one random batch in the host's "
      "memory, the job's optimizer included. The job's data is not read. Each "
      "line of stdin is a number of steps, answered by a line of JSON: the "
      "mean "
      "seconds of a step, and their mean loss. The first are warm-up.");
  app.set_version_flag("--version", PACELINE_VERSION);
  paceline::Flags flags;
  app.add_option("job", flags.job_path, "The job file.")->required();
  app.add_option("--set", flags.overrides,
                 "path.to.field=value: changes a field of the job.");
  app.add_option("--device", flags.device, "cpu, reference, cuda or cuda:N.")
      ->capture_default_str();
  app.add_option("--batch", flags.batch_size, "Examples in a step.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", flags.threads, "Threads that compute.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);

  const absl::Status status = paceline::Run(flags);
  if (status.ok()) return 0;
  std::cerr << "model_benchmark: " << status.message() << "\n";
  return 1;
}
