// A service on one machine, as its users see it: daemons, jobs, results.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Two daemons that are there.
class ServiceTest : public testing::Test {
 protected:
  ServiceTest()
      : ps_(service_.StartDaemon("ps_server", "ps-daemon")),
        worker_(service_.StartDaemon("worker", "worker-daemon")) {
    EXPECT_TRUE(WaitUntil(
        kJobLimit,
        [&] {
          const std::string members = service_.Run({"members", "-o", "name"});
          return Lines(members).size() == 2;
        }))
        << ps_.Errors() << worker_.Errors();
  }

  // The id of the job, which `submit` prints alone.
  std::string Submit(const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> all = {"submit", job_.path()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::string(absl::StripSuffix(service_.Run(all), "\n"));
  }

  SmallJob job_;
  TestService service_;
  Process ps_;
  Process worker_;
};

TEST_F(ServiceTest, RunsAJobAndGivesItsResultBack) {
  Process submit = service_.Start({"submit", job_.path(), "--follow", "--set",
                                   "checkpoint.every_epochs=1"});
  ASSERT_EQ(submit.Wait(kJobLimit), 0) << submit.Errors();
  EXPECT_THAT(submit.Output() + submit.Errors(), HasSubstr("Epoch 3/3"));
  const std::vector<std::string> ids =
      Lines(service_.Run({"list", "-o", "name"}));
  ASSERT_EQ(ids.size(), 1);
  const nlohmann::json view = service_.Describe(ids[0]);
  EXPECT_EQ(view.at("state"), "SUCCEEDED");
  EXPECT_EQ(view.at("result").at("state"), "SUCCEEDED");
  for (const nlohmann::json& task : view.at("tasks")) {
    EXPECT_GT(task.at("cpu_seconds"), 0) << task;
    EXPECT_GT(task.at("peak_memory_bytes"), 1 << 20) << task;
  }
  EXPECT_THAT(service_.Run({"logs", ids[0], "--task", "worker-1"}),
              Not(testing::IsEmpty()));

  const std::string output = service_.folder() / "downloaded";
  service_.Run({"download", ids[0], "--output", output});
  EXPECT_EQ(ReadJson(output + "/result.json").at("state"), "SUCCEEDED");
  EXPECT_TRUE(std::filesystem::exists(output + "/model.keras"));
  EXPECT_EQ(Lines(ReadText(output + "/history.csv")).size(), 4);
}

TEST_F(ServiceTest, AJobThatCanNeverFitIsRefusedAtOnce) {
  const std::string errors = [&] {
    Process submit =
        service_.Start({"submit", job_.path(), "--worker-cores", "1000"});
    EXPECT_EQ(submit.Wait(kJobLimit), 2);
    return submit.Errors();
  }();
  EXPECT_THAT(errors, HasSubstr("1000 cores"));
}

TEST_F(ServiceTest, StopLeavesACheckpoint) {
  const std::string id = Submit(
      {"--set", "epochs=100000", "--set", "checkpoint.every_epochs=50000"});
  ASSERT_TRUE(service_.WaitForState(id, {"RUNNING"}));
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return Lines(service_.Run({"logs", id})).size() > 3;
  }));
  service_.Run({"stop", id, "--wait"});
  const nlohmann::json view = service_.Describe(id);
  EXPECT_EQ(view.at("state"), "STOPPED");
  EXPECT_THAT(view.at("outputs").dump(), HasSubstr("manifest.json"));
  service_.Run({"delete", id});
  EXPECT_EQ(service_.Run({"list", "-o", "name"}), "");
}

TEST_F(ServiceTest, JobsWaitForRoomAndSayWhy) {
  const std::string first =
      Submit({"--set", "epochs=100000", "--worker-cores", "8"});
  ASSERT_TRUE(service_.WaitForState(first, {"RUNNING"}));
  const std::string second = Submit({"--worker-cores", "8"});
  EXPECT_THAT(service_.Run({"describe", second}),
              AllOf(HasSubstr("queued"), HasSubstr("waits for room")));
  service_.Run({"stop", first, "--wait"});
  service_.Run({"wait", second});
}

TEST_F(ServiceTest, ARepeatedSubmissionIsTheSameJob) {
  const std::string id = Submit({"--idempotency-key", "nightly"});
  EXPECT_EQ(Submit({"--idempotency-key", "nightly"}), id);
  service_.Run({"wait", id});
}

TEST_F(ServiceTest, AJobReadsNoFileOutsideItsFolders) {
  const std::string id =
      Submit({"--set", "data.train.idx.features=/etc/passwd"});
  service_.Run({"wait", id}, 1);
  EXPECT_THAT(service_.Run({"logs", id}),
              AllOf(HasSubstr("data.train.idx.features"),
                    HasSubstr("outside the job's folder")));
}

TEST_F(ServiceTest, AJobReadsNoModelOutsideItsFolders) {
  const std::string model = service_.folder() / "model.json";
  WriteText(model, "{\"secret\": 1}");
  WriteText(job_.folder() / "empty.yaml",
            "strategy: mirrored\ncluster: {worker: 1}\nmodel: " + model +
                "\ndata: {train: {idx: {features: train-images, labels: "
                "train-labels}}}\nbatch_size_per_replica: 64\n");
  Process submit =
      service_.Start({"submit", job_.folder() / "empty.yaml", "--wait"});
  ASSERT_TRUE(submit.Wait(kJobLimit).has_value());
  EXPECT_THAT(submit.Errors(), HasSubstr("model"));
}

}  // namespace
}  // namespace paceline
