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

// What each task took at most, by its name.
std::map<std::string, int64_t> PeaksOf(int epochs) {
  SmallJob job;
  const nlohmann::json result = RunSteps(job, epochs, 1000);
  std::map<std::string, int64_t> peaks;
  for (const auto& task : result.at("tasks")) {
    peaks[absl::StrCat(task.at("type").get<std::string>(), "-",
                       task.at("index").get<int>())] =
        task.at("peak_rss_bytes");
  }
  return peaks;
}

TEST(WarmStepTest, ResidentMemoryStaysFlat) {
  if (kTimeScale > 1) GTEST_SKIP() << "sanitizers keep what was freed";
  const std::map<std::string, int64_t> early = PeaksOf(1);
  const std::map<std::string, int64_t> late = PeaksOf(10);
  for (const std::string task : {"ps-0", "worker-0", "worker-1"}) {
    ASSERT_TRUE(early.contains(task) && late.contains(task)) << task;
    EXPECT_GT(early.at(task), 0) << task;
    EXPECT_LE(late.at(task) - early.at(task), kMaxGrowthBytes) << task;
  }
}

}  // namespace
}  // namespace paceline
