// What a step costs once a job has run for a while, in the real processes.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

// Per step, nearly all of them oneDNN's (about 5 a primitive) and protobuf's.
constexpr double kMaxWorkerAllocations = 110;
constexpr double kMaxPsAllocations = 40;
// What a process may grow by from 1,000 to 10,000 steps.
constexpr int64_t kMaxGrowthBytes = int64_t{2} << 20;

// Runs the job for so many steps; expects success.
nlohmann::json RunSteps(const SmallJob& job, int epochs, int steps_per_epoch) {
  Process run = job.Run({"--set", absl::StrCat("epochs=", epochs), "--set",
                         absl::StrCat("steps_per_epoch=", steps_per_epoch),
                         "--set", "checkpoint={every_epochs: 100}"});
  EXPECT_EQ(run.Wait(2 * kJobLimit), 0) << run.Errors();
  return job.Result();
}

// Allocations by program, all its processes together.
std::map<std::string, int64_t> CountAllocations(int epochs) {
  const TestFolder counts;
  setenv("LD_PRELOAD", ALLOCATION_COUNTER, 1);
  setenv("ALLOCATION_COUNTER_FOLDER", counts.path().c_str(), 1);
  SmallJob job;
  RunSteps(job, epochs, 100);
  unsetenv("LD_PRELOAD");
  std::map<std::string, int64_t> totals;
  for (const auto& entry : std::filesystem::directory_iterator(counts.path())) {
    const std::string name = entry.path().filename().string();
    int64_t count = 0;
    std::ifstream(entry.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(&count), sizeof(count));
    totals[name.substr(0, name.rfind('-'))] += count;
  }
  return totals;
}

TEST(WarmStepTest, AllocationsStayUnderTheirCeiling) {
  if (kTimeScale > 1) GTEST_SKIP() << "sanitizers allocate by themselves";
  std::map<std::string, int64_t> few = CountAllocations(2);
  std::map<std::string, int64_t> many = CountAllocations(12);
  const double worker = (many["worker"] - few["worker"]) / 1000.0;
  const double ps = (many["ps_server"] - few["ps_server"]) / 1000.0;
  RecordProperty("worker_allocations_per_step", absl::StrCat(worker));
  RecordProperty("ps_allocations_per_step", absl::StrCat(ps));
  EXPECT_GT(worker, 0);
  EXPECT_GT(ps, 0);
  EXPECT_LE(worker, kMaxWorkerAllocations);
  EXPECT_LE(ps, kMaxPsAllocations);
}

TEST(WarmStepTest, ResidentMemoryStaysFlat) {
  if (kTimeScale > 1) GTEST_SKIP() << "sanitizers keep what was freed";
  std::map<std::string, int64_t> peaks;
  {
    SmallJob job;
    for (const auto& task : RunSteps(job, 1, 1000).at("tasks")) {
      peaks[task.at("type").get<std::string>() +
            absl::StrCat(task.at("index").get<int>())] =
          task.at("peak_rss_bytes");
    }
  }
  SmallJob job;
  for (const auto& task : RunSteps(job, 10, 1000).at("tasks")) {
    const std::string name = task.at("type").get<std::string>() +
                             absl::StrCat(task.at("index").get<int>());
    const int64_t growth =
        task.at("peak_rss_bytes").get<int64_t>() - peaks[name];
    EXPECT_LE(growth, kMaxGrowthBytes) << name;
  }
}

}  // namespace
}  // namespace paceline
