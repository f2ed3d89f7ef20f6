// gpu_benchmark: how much of a GPU's link and memory bandwidth our device uses.
// See --help.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "common/base/status_macros.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/sharding/shard_plan.h"
#include "nlohmann/json.hpp"
#include "tests/benchmark/gpu_comparisons.h"
#include "tests/benchmark/quantiles.h"
#include "worker/device/cuda/open_gpu.h"

namespace paceline::cuda {
namespace {

struct Flags {
  std::string job_path;
  int ordinal = 0;
  int64_t parameters = 100'000'000;
  PairOptions pairs;
};

nlohmann::ordered_json Summary(const std::vector<double>& values) {
  return {{"median", Quantile(values, 0.5)},
          {"quartiles", {Quartile1(values), Quartile3(values)}}};
}

void Print(const std::string& what, const Comparison& comparison) {
  const nlohmann::ordered_json line = {
      {"what", what},
      {"ratio", Summary(comparison.Ratios())},
      {"bytes_per_second", Summary(comparison.ours)},
      {"plain_bytes_per_second", Summary(comparison.plain)}};
  std::cout << line.dump() << std::endl;
}

// The plan for one parameter server.
absl::StatusOr<ShardPlan> PlanOf(const std::string& job_path) {
  JobReaderOptions reader;
  reader.check_files = false;
  ASSIGN_OR_RETURN(const v1::Job job, ReadJobFile(job_path, {}, reader));
  ASSIGN_OR_RETURN(const JobModel model, MakeJobModel(job));
  return ShardPlan::Make(model.graph.variables, /*shards=*/1, job.partitioner(),
                         sizeof(float));
}

absl::Status Run(const Flags& flags) {
  ASSIGN_OR_RETURN(const ShardPlan plan, PlanOf(flags.job_path));
  ASSIGN_OR_RETURN(const std::unique_ptr<Driver> driver, LoadDriver({}));
  ASSIGN_OR_RETURN(const std::unique_ptr<Gpu> gpu,
                   OpenGpu(*driver, flags.ordinal, {}));
  ASSIGN_OR_RETURN(const Comparison gradients,
                   CompareGradients(*gpu, plan.layout(), flags.pairs));
  Print("gradients", gradients);
  ASSIGN_OR_RETURN(const Comparison adam,
                   CompareAdam(*gpu, flags.parameters, flags.pairs));
  Print("adam", adam);
  return absl::OkStatus();
}

}  // namespace
}  // namespace paceline::cuda

int main(int argc, char** argv) {
  CLI::App app(
      "Times gradients that leave a GPU for pinned memory and variables that "
      "come back, beside plain copies of as many bytes, and Adam's update "
      "beside copies within the GPU's memory; prints a line of JSON for each, "
      "with the ratio of pairs.");
  app.set_version_flag("--version", PACELINE_VERSION);
  paceline::cuda::Flags flags;
  app.add_option("job", flags.job_path,
                 "The job file whose model's gradients travel.")
      ->required();
  app.add_option("--ordinal", flags.ordinal, "N of cuda:N.")
      ->capture_default_str();
  app.add_option("--parameters", flags.parameters, "Parameters of an update.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--pairs", flags.pairs.pairs, "Pairs of either.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", flags.pairs.rounds,
                 "Rounds of a side that are timed in a pair.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const absl::Status status = paceline::cuda::Run(flags);
  if (status.ok()) return 0;
  std::cerr << "gpu_benchmark: " << status.message() << "\n";
  return 1;
}
