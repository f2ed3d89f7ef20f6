// TensorBoard's traces of steps, and images of the first batch: which workers
// send them, and what the leader writes.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kPngSignature[] = "\x89PNG\r\n\x1a\n";

int CountIn(const std::string& bytes, const std::string& part) {
  int count = 0;
  for (size_t at = bytes.find(part); at != std::string::npos;
       at = bytes.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The contents of the files below a folder, by their sorted paths; of folders
// that do not exist none.
std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) files.push_back(ReadText(path));
  return files;
}

std::vector<std::string> Traces(const SmallJob& job) {
  return FilesBelow(job.output_dir() + "/board/plugins/profile");
}

// Of steps 1 to 40, those that the trace has, by the names of its spans.
std::set<int> StepsIn(const std::string& trace) {
  std::set<int> steps;
  for (int step = 1; step <= 40; ++step) {
    const std::string name = absl::StrCat("step ", step);
    // A message with the length of the name before it.
    const std::string field =
        std::string("\x12") + static_cast<char>(name.size()) + name;
    if (absl::StrContains(trace, field)) steps.insert(step);
  }
  return steps;
}

std::vector<std::string> Sets(const std::vector<std::string>& sets) {
  std::vector<std::string> arguments;
  for (const std::string& set : sets) {
    arguments.insert(arguments.end(), {"--set", set});
  }
  return arguments;
}

std::string Board(const std::string& options) {
  return absl::StrCat("callbacks=[{TensorBoard: {log_dir: board, ", options,
                      "}}]");
}

struct SyncCase {
  std::vector<std::string> sets;
  size_t workers;
  // In the trace of each worker.
  std::vector<std::string> names;
};

class ProfileTest : public ::testing::TestWithParam<SyncCase> {};

TEST_P(ProfileTest, EachWorkerHasTheStepsAndTheFirstHasTheImages) {
  SmallJob job;
  std::vector<std::string> sets = GetParam().sets;
  sets.push_back(Board("profile_batch: [9, 12], first_batch_images: 5"));
  Process run = job.Run(Sets(sets));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::vector<std::string> traces = Traces(job);
  ASSERT_THAT(traces, SizeIs(GetParam().workers));
  for (size_t worker = 0; worker < traces.size(); ++worker) {
    const std::string& trace = traces[worker];
    EXPECT_THAT(StepsIn(trace), ElementsAre(9, 10, 11, 12));
    EXPECT_THAT(trace, HasSubstr(absl::StrCat("worker-", worker)));
    EXPECT_THAT(trace, HasSubstr("/host:CPU"));
    for (const std::string& name : GetParam().names) {
      EXPECT_THAT(trace, HasSubstr(name));
    }
  }
  const auto runs = std::filesystem::directory_iterator(
      job.output_dir() + "/board/plugins/profile");
  EXPECT_EQ(std::distance(begin(runs), end(runs)), 1);
  const std::vector<std::string> events =
      FilesBelow(job.output_dir() + "/board/train");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(CountIn(events[0], "first_batch"), 1);
  EXPECT_EQ(CountIn(events[0], kPngSignature), 5);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, ProfileTest,
    ::testing::Values(
        SyncCase{{"strategy=mirrored", "cluster={worker: 1}", "devices=2"},
                 1,
                 {"replica 0", "replica 1", "data of replica 1",
                  "all-reduce of replica 1", "wait for data",
                  "forward and backward", "update"}},
        SyncCase{{"strategy=multi_worker_mirrored", "cluster={worker: 2}"},
                 2,
                 {"replica 0", "all-reduce bucket 0", "update"}},
        SyncCase{
            {"strategy=central_storage", "cluster={worker: 1}", "devices=2"},
            1,
            {"replica 1", "sum bucket 0", "update",
             "wait for the other replicas"}},
        SyncCase{{"consistency=sync", "cluster.ps=2"},
                 2,
                 {"calls to ps-0", "calls to ps-1", "Push",
                  "wait for the parameter servers"}}));

// Each has the steps of its own leases, and the last ones come when there are
// no more.
TEST(ProfileLeasesTest, WorkersWithTheirOwnLeasesShareTheSteps) {
  SmallJob job;
  Process run = job.Run(Sets({Board("profile_batch: [3, 1000]")}));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::vector<std::string> traces = Traces(job);
  ASSERT_THAT(traces, SizeIs(2));
  std::vector<int> steps;
  for (const std::string& trace : traces) {
    EXPECT_THAT(trace, HasSubstr("calls to ps-0"));
    const std::set<int> own = StepsIn(trace);
    EXPECT_THAT(own, Not(IsEmpty()));
    steps.insert(steps.end(), own.begin(), own.end());
  }
  std::sort(steps.begin(), steps.end());
  std::vector<int> expected;
  for (int step = 3; step <= 3 * kStepsPerEpoch; ++step) {
    expected.push_back(step);
  }
  EXPECT_EQ(steps, expected);
}

TEST(ProfileResumeTest, AResumedJobCountsOnAndHasNoFirstBatch) {
  SmallJob job;
  const std::vector<std::string> sets = {
      "strategy=mirrored", "cluster={worker: 1}",
      Board("profile_batch: [15, 16], first_batch_images: 2")};
  std::vector<std::string> first = sets;
  first.emplace_back("epochs=1");
  Process run = job.Run(Sets(first));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(Traces(job), IsEmpty());
  std::vector<std::string> arguments = Sets(sets);
  arguments.emplace_back("--resume");
  Process resumed = job.Run(arguments);
  EXPECT_EQ(resumed.Wait(kJobLimit), 0) << resumed.Errors();
  const std::vector<std::string> traces = Traces(job);
  ASSERT_THAT(traces, SizeIs(1));
  EXPECT_THAT(StepsIn(traces[0]), ElementsAre(15, 16));
  const std::vector<std::string> events =
      FilesBelow(job.output_dir() + "/board/train");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(CountIn(events[0], kPngSignature), 2);
  EXPECT_EQ(CountIn(events[1], kPngSignature), 0);
}

TEST(ProfileLimitsTest, TheLogSaysIfABatchHasFewerImages) {
  SmallJob job;
  Process run = job.Run(
      Sets({"strategy=mirrored", "cluster={worker: 1}", "devices=2",
            "batch_size_per_replica=7", Board("first_batch_images: 9")}));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::vector<std::string> events =
      FilesBelow(job.output_dir() + "/board/train");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(CountIn(events[0], kPngSignature), 7);
  EXPECT_THAT(job.Log("worker-0"),
              HasSubstr("TensorBoard gets 7 of 9 images: the replica has 7"));
}

TEST(ProfileLimitsTest, AModelWithoutImagesIsRefused) {
  SmallJob job;
  Process run = job.Run(
      Sets({"model={layers: [{Input: {shape: [64]}}, {Dense: {units: 4}}]}",
            Board("first_batch_images: 9")}));
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(),
              HasSubstr("callbacks[0].first_batch_images: got 9, and the "
                        "model's inputs are "));
}

TEST(ProfileFilesTest, ATraceThatCannotBeWrittenEndsTheJob) {
  SmallJob job;
  std::filesystem::create_directories(job.output_dir() + "/board");
  WriteText(job.output_dir() + "/board/plugins", "a file");
  Process run = job.Run(Sets({"strategy=mirrored", "cluster={worker: 1}",
                              Board("profile_batch: 2"), "epochs=200"}));
  EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("a callback failed: TensorBoard: "));
  EXPECT_THAT(run.Errors(), HasSubstr("board/plugins"));
}

TEST(ProfileFilesTest, ATraceThatCannotBeWrittenAfterTheEndFailsTheJob) {
  SmallJob job;
  std::filesystem::create_directories(job.output_dir() + "/board");
  WriteText(job.output_dir() + "/board/plugins", "a file");
  Process run = job.Run(Sets({"strategy=mirrored", "cluster={worker: 1}",
                              Board("profile_batch: [2, 1000]"), "epochs=2"}));
  EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("board/plugins"));
}

}  // namespace
}  // namespace paceline
