// A service on one machine, as its users see it: daemons, jobs, results.
#include <cmath>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two daemons that are there.
class ServiceTest : public testing::Test {
 protected:
  explicit ServiceTest(std::vector<std::string> serve_options = {})
      : service_({}, std::move(serve_options)),
        ps_(service_.StartDaemon("ps_server", "ps-daemon")),
        worker_(service_.StartDaemon("worker", "worker-daemon")) {
    EXPECT_TRUE(MembersAre(2)) << ps_.Errors() << worker_.Errors();
  }

  // Waits until there are so many daemons.
  bool MembersAre(size_t count) {
    return WaitUntil(kJobLimit, [&] {
      return Lines(service_.Run({"members", "-o", "name"})).size() == count;
    });
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

// The leader is on the machine of ps-0, and ps-1 on another.
TEST_F(ServiceTest, ACheckpointHasTheShardsOfAllMachines) {
  const Process second = service_.StartDaemon("ps_server", "second-ps-daemon");
  ASSERT_TRUE(MembersAre(3)) << second.Errors();
  const std::string id =
      Submit({"--set", "cluster.ps=2", "--ps-cores", "10", "--set",
              "epochs=100000", "--set", "checkpoint.every_epochs=20"});
  const auto outputs = [&] {
    return service_.Describe(id).value("outputs", nlohmann::json()).dump();
  };
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return absl::StrContains(outputs(), "manifest.json");
  })) << service_.Run({"logs", id});
  service_.Run({"stop", id, "--wait"});
  const std::string output = service_.folder() / "downloaded";
  service_.Run({"download", id, "--output", output});
  service_.Run({"export", output + "/checkpoint", "--format", "safetensors",
                "--output", output + "/whole.safetensors"});
  // Files that the leader has collected do not stay where they were written.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           service_.folder() / "second-ps-daemon")) {
    EXPECT_NE(entry.path().extension(), ".safetensors") << entry.path();
  }
}

// The leader is on the machine of one ps; the other is on another. The
// validation set is the test set, so that both have the same loss with the same
// variables.
TEST_F(ServiceTest, TheBestEpochComesBackToTheServersOfAllMachines) {
  const Process second = service_.StartDaemon("ps_server", "second-ps-daemon");
  ASSERT_TRUE(MembersAre(3)) << second.Errors();
  // The first epoch is the best. The second job is started again between that
  // and its end.
  for (const bool is_killed : {false, true}) {
    SCOPED_TRACE(is_killed);
    const int patience = is_killed ? 2000 : 2;
    const std::string id = Submit(
        {"--set", "cluster.ps=2", "--ps-cores", "10", "--retries", "1", "--set",
         "epochs=9999", "--set", "checkpoint.every_epochs=200", "--set",
         "data.validation={idx: {features: test-images, labels: test-labels}, "
         "scale: 0.00392156862745098}",
         "--set",
         absl::StrCat(
             "callbacks=[{EarlyStopping: {min_delta: 100, patience: ", patience,
             ", restore_best_weights: true, verbose: 1}}]")});
    if (is_killed) {
      // The kept checkpoint, and a later one.
      ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
        const std::vector<std::string> parts =
            absl::StrSplit(service_.Describe(id).dump(), "/manifest.json");
        return parts.size() > 2;
      }));
      // On whichever machine ps-0 is.
      std::vector<pid_t> tasks = ps_.Session();
      for (const pid_t task : second.Session()) tasks.push_back(task);
      const pid_t leader = FindProcess(tasks, "coordinator", "lead");
      ASSERT_GT(leader, 0);
      kill(leader, SIGKILL);
    }
    service_.Run({"wait", id});
    EXPECT_THAT(service_.Run({"logs", id}),
                HasSubstr("Restoring model weights from the end of the best "
                          "epoch: 1."));
    EXPECT_EQ(service_.Describe(id).value("starts", 0), is_killed ? 2 : 1);
    const std::string output = service_.folder() / ("downloaded-" + id);
    service_.Run({"download", id, "--output", output});
    const nlohmann::json result = ReadJson(output + "/result.json");
    const std::vector<double> losses = Column(result, "val_loss");
    ASSERT_EQ(losses.size(), patience + 1);
    const double loss = result.at("evaluation").at("loss").get<double>();
    EXPECT_NEAR(loss, losses.front(), 1e-6);
    EXPECT_GT(std::abs(loss - losses.back()), 1e-3);
  }
}

TEST_F(ServiceTest, EachPhaseIsAStartOfTheJob) {
  const std::string id =
      Submit({"--set", "epochs=null", "--set",
              "phases=[{name: head, epochs: 1}, {name: tune, epochs: 2}]"});
  service_.Run({"wait", id});
  const std::string output = service_.folder() / "downloaded";
  service_.Run({"download", id, "--output", output});
  EXPECT_EQ(ReadJson(output + "/phases/head/result.json").at("phase"), "head");
  const nlohmann::json last = ReadJson(output + "/result.json");
  EXPECT_EQ(last.at("phase"), "tune");
  EXPECT_THAT(Column(last, "epoch"), ElementsAre(0, 1));
}

TEST_F(ServiceTest, AnEvaluatorRunsBesideTheLeader) {
  const std::string id =
      Submit({"--set", "evaluator=true", "--set", "checkpoint.every_epochs=1"});
  service_.Run({"wait", id});
  const std::string output = service_.folder() / "downloaded";
  service_.Run({"download", id, "--output", output});
  // The header, and the last checkpoint at least.
  EXPECT_GE(Lines(ReadText(output + "/evaluator.csv")).size(), 2);
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

// One that keeps and allows little.
class ServiceLimitsTest : public ServiceTest {
 protected:
  ServiceLimitsTest()
      : ServiceTest({"--quota", "anybody=jobs:1", "--keep-jobs", "1s"}) {}
};

TEST_F(ServiceLimitsTest, AUserAtTheQuotaWaitsAndEndedJobsAreForgotten) {
  const std::string first = Submit({"--set", "epochs=100000"});
  ASSERT_TRUE(service_.WaitForState(first, {"RUNNING"}));
  const std::string second = Submit();
  EXPECT_THAT(
      service_.Run({"describe", second}),
      HasSubstr("waits for jobs of anybody to end: the quota is 1 job"));
  service_.Run({"stop", first});
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return service_.Run({"list", "-o", "name"}).empty();
  }));
  for (const std::string& id : {first, second}) {
    EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
      return !std::filesystem::exists(service_.folder() / ("store/logs/" + id));
    }));
    EXPECT_THAT(ReadText(service_.folder() / "coordinator.err"),
                HasSubstr(id + " is deleted: it ended "));
  }
}

TEST(ServiceDiskTest, AFullDiskRefusesFilesAndEndsNothing) {
  const SmallJob job;
  TestService service({}, {"--min-free", "800000TiB"});
  Process submit = service.Start({"submit", job.path()});
  EXPECT_EQ(submit.Wait(kJobLimit), 1);
  EXPECT_THAT(submit.Errors(),
              AllOf(HasSubstr(service.folder() / "store/files"),
                    HasSubstr(" free, of which 781.2 PiB are kept"),
                    HasSubstr("--min-free")));
  EXPECT_EQ(service.Run({"list", "-o", "name"}), "");
}

TEST(ServiceFileTest, AJobWhoseModelIsTooLargeToKeepHasNotSucceeded) {
  const SmallJob job;
  const std::string large = job.folder() / "large.yaml";
  WriteText(large, absl::StrReplaceAll(ReadText(job.path()),
                                       {{"units: 16", "units: 1024"}}));
  TestService service({}, {"--max-file", "100KiB"});
  const Process ps = service.StartDaemon("ps_server", "ps-daemon");
  const Process worker = service.StartDaemon("worker", "worker-daemon");
  const std::string id(absl::StripSuffix(service.Run({"submit", large}), "\n"));
  service.Run({"wait", id}, 1);
  const nlohmann::json view = service.Describe(id);
  EXPECT_EQ(view.at("state"), "FAILED");
  EXPECT_THAT(
      view.value("error", ""),
      AllOf(HasSubstr("the leader on ps-daemon: outputs are lost: out/"),
            HasSubstr("a file may have 102400")));
  // What can be kept is there.
  EXPECT_EQ(view.at("result").at("state"), "SUCCEEDED");
}

// What the leader's daemon opens to jobs, that of a worker need not.
TEST(ServiceDataTest, EachTaskReadsBelowTheFoldersOfItsOwnDaemon) {
  const SmallJob job;
  TestService service;
  const std::string open = service.folder() / "open";
  std::filesystem::create_directories(open);
  const Process ps =
      service.StartDaemon("ps_server", "ps-daemon", 16, {"--data", open});
  const Process worker = service.StartDaemon("worker", "worker-daemon");
  const std::string id(absl::StripSuffix(
      service.Run({"submit", job.path(), "--set",
                   "data.train.idx.features=" + open + "/x.gz"}),
      "\n"));
  service.Run({"wait", id}, 1);
  EXPECT_THAT(service.Describe(id).value("error", ""),
              AllOf(HasSubstr("worker-"), HasSubstr("data.train.idx.features"),
                    HasSubstr("outside the job's folder")));
}

// A service with a secret.
class ServiceTokenTest : public testing::Test {
 protected:
  explicit ServiceTokenTest(std::vector<std::string> serve_options = {}) {
    WriteText(secrets_ / "secret", std::string(64, 's') + "\n");
    service_.emplace(
        std::vector<std::string>{"--secret-file", secrets_ / "secret"},
        std::move(serve_options));
  }

  // The file with a new token of the user.
  std::string TokenOf(const std::string& user, const std::string& role) {
    std::string path = secrets_ / (user + ".token");
    WriteText(path, service_->Run({"token", "create", "--user", user, "--role",
                                   role, "--token-file", AdminFile()}));
    return path;
  }

  std::string AdminFile() const {
    return service_->folder() / "store/admin.token";
  }
  // The files that are to have a token: the admin's, and what `create` prints.
  bool IsToHaveToken(const std::filesystem::path& path) const {
    return path == AdminFile() || path.filename() == "command-0.out";
  }

  TestFolder secrets_;
  std::optional<TestService> service_;
};

TEST_F(ServiceTokenTest, AFileGivesTheFirstAdminsToken) {
  const std::string file = secrets_ / "given.token";
  WriteText(file, "paceline_" + std::string(64, '7') + "\n");
  TestService service({"--secret-file", secrets_ / "secret"},
                      {"--admin-token-file", file});
  EXPECT_FALSE(std::filesystem::exists(service.folder() / "store/admin.token"));
  for (int start = 0; start < 2; ++start) {
    EXPECT_THAT(Lines(service.Run({"token", "list", "--token-file", file})),
                ElementsAre(HasSubstr("USER"),
                            AllOf(HasSubstr("1"), HasSubstr("admin"))));
    service.Run({"token", "revoke", "1", "--token-file", file}, 2);
    service.KillCoordinator();
    service.StartCoordinator();
  }

  Process wrong = service.Start({"serve", "--listen=127.0.0.1:0", "--store",
                                 service.folder() / "other",
                                 "--admin-token-file", secrets_ / "secret"});
  EXPECT_EQ(wrong.Wait(kJobLimit), 2);
  EXPECT_THAT(wrong.Errors(), AllOf(HasSubstr("--admin-token-file: "),
                                    HasSubstr("this is no token")));
}

TEST_F(ServiceTokenTest, SaysWhoCallsAndIsInNoLogAndNoError) {
  const std::string ann = TokenOf("ann", "view");
  service_->Run({"list", "--token-file", ann});
  Process drain = service_->Start({"drain", "a-daemon", "--token-file", ann});
  EXPECT_EQ(drain.Wait(kJobLimit), 2);
  EXPECT_THAT(drain.Errors(), HasSubstr("this needs the role admin; the token "
                                        "of ann has view"));
  EXPECT_THAT(service_->Run({"token", "list"}),
              AllOf(HasSubstr("admin"), HasSubstr("ann")));
  service_->Run({"token", "revoke", "2"});
  Process list = service_->Start({"list", "--token-file", ann});
  EXPECT_EQ(list.Wait(kJobLimit), 1);
  EXPECT_THAT(list.Errors(), HasSubstr("the token is not known"));
  service_->KillCoordinator();

  std::vector<std::string> secrets;
  for (const std::string& path : {ann, AdminFile(), secrets_ / "secret"}) {
    secrets.push_back(Lines(ReadText(path)).at(0));
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           service_->folder().path())) {
    if (!entry.is_regular_file() || IsToHaveToken(entry.path())) continue;
    const std::string content = ReadText(entry.path().string());
    for (const std::string& secret : secrets) {
      EXPECT_EQ(content.find(secret), std::string::npos) << entry.path();
    }
  }
}

class ServiceUploadRateTest : public ServiceTokenTest {
 protected:
  ServiceUploadRateTest() : ServiceTokenTest({"--max-upload-rate", "1MiB"}) {}

  Process Submit(const SmallJob& job, const std::string& token) {
    return service_->Start({"submit", job.path(), "--token-file", token});
  }
};

TEST_F(ServiceUploadRateTest, AnUploadTakesItsTimeAndSlowsNobodyElse) {
  const SmallJob large;
  constexpr int kExamples = 80'000;
  WriteExamples(large.folder().path(), "train", kExamples);
  const auto bytes = static_cast<double>(
      std::filesystem::file_size(large.folder() / "train-images"));
  const std::string ann = TokenOf("ann", "submit");
  const std::string bob = TokenOf("bob", "submit");
  const absl::Time start = MonotonicNow();
  Process waits = Submit(large, ann);
  const SmallJob small;
  ASSERT_EQ(Submit(small, bob).Wait(kJobLimit), 0);
  EXPECT_EQ(waits.Wait(absl::ZeroDuration()), std::nullopt);
  ASSERT_EQ(waits.Wait(kJobLimit), 0) << waits.Errors();
  const double seconds = absl::ToDoubleSeconds(MonotonicNow() - start);
  // All but the bytes of a second and the last piece.
  EXPECT_GE(seconds, bytes / (1 << 20) - 2);
  EXPECT_LE(seconds, bytes / (1 << 20) + 10);
  EXPECT_THAT(waits.Errors(), HasSubstr("limits the rate of uploads"));
}

}  // namespace
}  // namespace paceline
