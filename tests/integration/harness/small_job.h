// A job that trains within a moment, and its data.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_SMALL_JOB_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_SMALL_JOB_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/integration/harness/process.h"
#include "tests/integration/harness/text_file.h"

namespace paceline {

// Examples in the training set: no multiple of the batch size, so that the last
// batch is partial.
inline constexpr int kTrainExamples = 601;
inline constexpr int kTestExamples = 150;
inline constexpr int kBatchSize = 64;
inline constexpr int kStepsPerEpoch = 10;

// The secret of clusters under TF_CONFIG, unless a test sets another.
inline constexpr char kTestSecret[] = "the secret of a job under test";

// Writes IDX files <name>-images and <name>-labels with `count` images of 8 × 8
// pixels, in 4 classes that a small model learns within a few epochs.
void WriteExamples(const std::string& folder, const std::string& name,
                   int count);

// A folder with a job (3 epochs with 1 ps and 2 workers, and a test set) and
// its data. Tests change the job by `--set`.
class SmallJob {
 public:
  SmallJob();

  const TestFolder& folder() const { return folder_; }
  std::string path() const { return folder_ / "job.yaml"; }
  std::string output_dir() const { return folder_ / "out"; }

  // Starts `coordinator run` of the job into output_dir(), with additional
  // arguments.
  Process Run(const std::vector<std::string>& arguments = {}) const;
  // Starts `coordinator` with these arguments.
  Process Coordinator(const std::vector<std::string>& arguments,
                      const std::string& tf_config = "") const;

  nlohmann::json Result() const;
  // The manifest of the latest checkpoint; discarded if there is none.
  nlohmann::json LatestManifest() const;
  // The file of the last checkpoint of a job with one shard: its variables and
  // slots.
  std::string LastShardFile() const;
  // The same without the header, which also names the workers of a ps.
  std::string LastShardTensors() const;
  // The log of a task, such as "ps-0".
  std::string Log(const std::string& task) const;

 private:
  TestFolder folder_;
};

// The path of `coordinator`, `worker` or `ps_server`.
std::string ProgramPath(const std::string& name);

// Number of lines in the output of a coordinator that report the end of an
// epoch of several.
int EpochLines(const Process& run);
// Waits until there are `count` such lines.
bool WaitForEpochs(const Process& run, int count);

// The value of `key` in each row of a result's history.
std::vector<double> Column(const nlohmann::json& result,
                           const std::string& key);

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_SMALL_JOB_H_
