// Callbacks that reach out of a job: programs of the user's (Exec), and
// requests to a server (RemoteMonitor).
#include <signal.h>
#include <stdlib.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/http_server/http_server.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Writes down each event, prints the learning rate of each epoch, sets it where
// the second begins, and ends training where the third does.
constexpr char kScript[] = R"sh(
read -r line
echo "$line" >> "$1"
case $line in
  *'"event":"epoch_begin","epoch":1'*) echo '{"learning_rate": 0.125}' ;;
  *'"event":"epoch_end"'*)
    rate=${line#*learning_rate\":}
    echo "the rate is ${rate%%,*}"
    case $line in
      *'"epoch":2'*) echo '{"stop_training": true}' ;;
    esac ;;
esac
)sh";

std::vector<std::string> Set(std::vector<std::string> settings) {
  std::vector<std::string> arguments;
  for (std::string& setting : settings) {
    arguments.emplace_back("--set");
    arguments.push_back(std::move(setting));
  }
  return arguments;
}

// A job with one Exec that runs this.
std::string Exec(const std::string& command, const std::string& more = "") {
  return absl::StrCat("callbacks=[{Exec: {command: ", command, more, "}}]");
}

// A variable of this process and its children while it lives.
constexpr char kSecret[] = "EXEC_TEST_KEY=0123";
struct Secret {
  Secret() { setenv("EXEC_TEST_KEY", "0123", 1); }
  ~Secret() { unsetenv("EXEC_TEST_KEY"); }
};

class ExecTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ExecTest, SeesEventsAndDecides) {
  SmallJob job;
  const std::string script = job.folder() / "decide.sh";
  const std::string events = job.folder() / "events";
  WriteText(script, kScript);
  std::vector<std::string> settings = {
      "epochs=9", "data.validation_split=0.25",
      Exec(absl::StrCat("[/bin/sh, ", script, ", ", events, "]"),
           ", on: [train_begin, epoch_begin, test_begin, test_end, epoch_end, "
           "train_end]")};
  settings.insert(settings.end(), GetParam().begin(), GetParam().end());
  Process run = job.Run(Set(settings));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(0, 1, 2));
  const std::vector<double> rates = Column(job.Result(), "learning_rate");
  EXPECT_NE(rates.at(0), 0.125);
  EXPECT_EQ(rates.at(1), 0.125);
  EXPECT_EQ(rates.at(2), 0.125);
  EXPECT_THAT(run.Output(), HasSubstr("\nthe rate is 0.125\n"));
  std::vector<std::string> names;
  for (const std::string& line : Lines(ReadText(events))) {
    const nlohmann::json event = nlohmann::json::parse(line);
    names.push_back(event.at("event"));
    // Of the epoch that ended last, if training ends.
    const bool is_end =
        absl::EndsWith(names.back(), "h_end") || names.back() == "train_end";
    EXPECT_EQ(event.at("logs").contains("val_loss"), is_end) << line;
  }
  std::vector<std::string> expected = {"train_begin"};
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const char* name :
         {"epoch_begin", "test_begin", "test_end", "epoch_end"}) {
      expected.emplace_back(name);
    }
  }
  expected.emplace_back("train_end");
  EXPECT_EQ(names, expected);
}

INSTANTIATE_TEST_SUITE_P(Strategies, ExecTest,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{
                                               "strategy=mirrored",
                                               "cluster={worker: 1}",
                                               "devices=2"}));

TEST(ExecBatchTest, EndsTraining) {
  SmallJob job;
  const std::string events = job.folder() / "events";
  Process run = job.Run(
      Set({"epochs=500",
           Exec(absl::StrCat("[/bin/sh, -c, 'cat >> ", events,
                             "; echo \"{\\\"stop_training\\\": true}\"']"),
                ", on: [train_batch_end]")}));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_LT(Column(job.Result(), "epoch").size(), 500);
  const std::vector<std::string> lines = Lines(ReadText(events));
  ASSERT_FALSE(lines.empty());
  const nlohmann::json first = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(first.at("event"), "train_batch_end");
  EXPECT_EQ(first.at("count"), first.at("step"));
  EXPECT_TRUE(first.at("logs").contains("loss"));
}

TEST(ExecBatchTest, HearsBatchesBeginAndEnd) {
  SmallJob job;
  const std::string events = job.folder() / "events";
  Process run = job.Run(
      Set({"epochs=2", "data.validation_split=0.25",
           Exec(absl::StrCat("[/bin/sh, -c, 'cat >> ", events, "']"),
                ", on: [epoch_begin, train_batch_begin, train_batch_end, "
                "test_begin, test_batch_begin, test_batch_end, test_end]")}));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  std::vector<std::string> names;
  // The batches of this pass that the last group begins with, and that have
  // ended. An event is left out while the program of one of its name runs, so
  // groups may have only a begin, or an end that counts the steps of several.
  int begun = 0;
  int ended = 0;
  for (const std::string& line : Lines(ReadText(events))) {
    const nlohmann::json event = nlohmann::json::parse(line);
    const std::string name = event.at("event");
    if (name == "epoch_begin" || name == "test_begin") {
      begun = 0;
      ended = 0;
    } else if (absl::EndsWith(name, "_batch_begin")) {
      begun = event.at("batch");
      EXPECT_GE(begun, ended) << "the group before it has ended: " << line;
    } else if (absl::EndsWith(name, "_batch_end")) {
      ended += event.at("count").get<int>();
      EXPECT_EQ(ended, event.at("batch").get<int>() + 1) << line;
      EXPECT_GT(ended, begun) << "it has begun: " << line;
      // Of the 601 examples 450 train and 151 validate.
      EXPECT_LE(ended, absl::StartsWith(name, "train") ? 8 : 3) << line;
    }
    if (name == "train_batch_begin") {
      EXPECT_EQ(event.at("logs").size(), 0);
      EXPECT_GT(event.at("learning_rate"), 0);
      EXPECT_GE(event.at("step"), event.at("batch"));
    } else if (name == "test_batch_end") {
      EXPECT_TRUE(event.at("logs").contains("loss")) << line;
      EXPECT_FALSE(event.at("logs").contains("val_loss")) << line;
    }
    names.push_back(name);
  }
  ASSERT_GE(names.size(), 14);
  EXPECT_EQ(names[0], "epoch_begin");
  EXPECT_EQ(names[1], "train_batch_begin");
  for (const char* const name :
       {"train_batch_end", "test_batch_begin", "test_batch_end"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

TEST(ExecOutputTest, HasNoControlCharacters) {
  SmallJob job;
  Process run =
      job.Run(Set({Exec("[sh, -c, 'printf \"\\\\033[2Ja\\\\tb\\\\n\"; printf "
                        "\"\\\\033]0;x\\\\007\\\\n\" >&2']",
                        ", on: [train_begin]")}));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Output(), HasSubstr("\\x1b[2Ja\tb\n"));
  EXPECT_THAT(run.Errors(), HasSubstr("\\x1b]0;x\\x07\n"));
  EXPECT_THAT(run.Output() + run.Errors(), Not(HasSubstr("\x1b")));
}

TEST(ExecOutputTest, ARunPassesItsEnvironmentOn) {
  const Secret secret;
  SmallJob job;
  Process run = job.Run(Set({Exec("[env]", ", on: [train_begin]")}));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Output(), HasSubstr(kSecret));
}

// Each with what the error says.
TEST(ExecErrorTest, ProgramsThatFailEndTheJob) {
  for (const auto& [callbacks, error] :
       std::vector<std::pair<std::string, std::string>>{
           {Exec("[/bin/sh, -c, 'echo broken >&2; exit 4']"),
            "exit code 4; it said: broken"},
           {Exec("[echo, '{oops']"), "its last line: {oops"},
           {Exec("[echo, '{\"learning_rate\": -2}']"), "answer.learning_rate"},
           {Exec("[sh, -c, 'sleep 1000 & sleep 1000']", ", timeout: 0.5"),
            "it took more than 0.5 s and was killed"}}) {
    SmallJob job;
    Process run = job.Run(Set({callbacks}));
    EXPECT_EQ(run.Wait(kJobLimit), 1) << run.Errors();
    EXPECT_THAT(
        run.Errors(),
        AllOf(HasSubstr("callbacks[0]: Exec: the command"), HasSubstr(error)));
    EXPECT_EQ(FindProcess(run.Session(), "sleep", "1000"), -1);
    EXPECT_THAT(run.Output(), Not(HasSubstr("Epoch 2/3")));
  }
}

TEST(ExecErrorTest, AProgramThatIsNotThereIsFoundBeforeTheJobStarts) {
  for (const auto& [command, error] :
       std::vector<std::pair<std::string, std::string>>{
           {"[/no/such/program, x]", "\"/no/such/program\": there is no such"},
           {"[pyhton3, x.py]", "\"pyhton3\": not found in PATH, /"}}) {
    SmallJob job;
    Process run = job.Run(Set({Exec(command, ", on: [train_end]")}));
    EXPECT_EQ(run.Wait(kJobLimit), 2) << run.Errors();
    EXPECT_THAT(run.Errors(),
                AllOf(HasSubstr("callbacks[0].command[0]: "), HasSubstr(error),
                      HasSubstr("expected a program in PATH, or its path")));
    EXPECT_EQ(run.Output(), "");
  }
}

TEST(ExecErrorTest, ASignalEndsAProgram) {
  SmallJob job;
  Process run = job.Run(
      Set({Exec("[sleep, '1000']", ", on: [train_begin], timeout: 2000")}));
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return FindProcess(run.Session(), "sleep", "1000") > 0;
  }));
  run.Signal(SIGINT);
  EXPECT_NE(run.Wait(kJobLimit), 0);
  EXPECT_EQ(FindProcess(run.Session(), "sleep", "1000"), -1);
}

// A job file for workers that lead.
std::string MirroredJob(const SmallJob& job, const std::string& callbacks) {
  std::string text = ReadText(job.path());
  const std::string ps = "strategy: parameter_server";
  text.replace(text.find(ps), ps.size(), "strategy: multi_worker_mirrored");
  const size_t cluster = text.find("cluster:");
  text.replace(cluster, text.find('\n', cluster) - cluster, callbacks);
  std::string path = job.folder() / "exec.yaml";
  WriteText(path, text);
  return path;
}

TEST(ExecPermissionTest, ATaskOfTfConfigNeedsIt) {
  const std::string callbacks = "callbacks: [{Exec: {command: [echo, hello]}}]";
  {
    SmallJob job;
    const auto cluster = HandStartedCluster::OnLoopback(job, 0, 0, 1);
    Process worker = cluster.Start(
        "worker", 0,
        {"--job", MirroredJob(job, callbacks), "--output", job.output_dir()});
    ExpectExit(worker, 2);
    EXPECT_THAT(worker.Errors(),
                HasSubstr("callbacks[0]: Exec runs a program, which is not "
                          "allowed where this job is led; expected "
                          "--allow-exec"));
  }
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 0, 0, 1);
  Process worker =
      cluster.Start("worker", 0,
                    {"--job", MirroredJob(job, callbacks), "--output",
                     job.output_dir(), "--allow-exec"});
  ExpectExit(worker, 0);
  EXPECT_THAT(worker.Output(), HasSubstr("\nhello\n"));
}

TEST(ExecPermissionTest, DaemonsOfAServiceNeedItAndKeepTheirSecrets) {
  const Secret secret;
  for (const bool allows : {false, true}) {
    SmallJob job;
    TestService service;
    const std::vector<std::string> more =
        allows ? std::vector<std::string>{"--allow-exec"}
               : std::vector<std::string>{};
    Process ps = service.StartDaemon("ps_server", "ps-daemon", 16, more);
    Process worker = service.StartDaemon("worker", "worker-daemon", 16, more);
    Process submit = service.Start(
        {"submit", job.path(), "--follow", "--set",
         Exec("[sh, -c, 'echo hello; env']", ", on: [train_end]")});
    EXPECT_EQ(submit.Wait(kJobLimit), allows ? 0 : 1) << submit.Errors();
    const std::string shown = submit.Output() + submit.Errors();
    EXPECT_EQ(absl::StrContains(shown, "\nhello\n"), allows) << shown;
    EXPECT_EQ(absl::StrContains(shown, "\nPATH="), allows) << shown;
    EXPECT_FALSE(absl::StrContains(shown, kSecret)) << shown;
    EXPECT_EQ(absl::StrContains(shown,
                                "Exec runs a program, which is not "
                                "allowed where this job is led"),
              !allows)
        << shown;
  }
}

TEST(RemoteMonitorTest, PostsEachEpoch) {
  setenv("no_proxy", "127.0.0.1", 1);
  SmallJob job;
  HttpServer server([](const TestRequest&) { return Refuse(500); });
  Process run = job.Run(Set({absl::StrCat(
      "callbacks=[{RemoteMonitor: {root: 'http://", server.address(),
      "', send_as_json: true, headers: {X-Token: abc}}}]")}));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::vector<TestRequest> requests = server.requests();
  ASSERT_THAT(requests, SizeIs(3));
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(requests[epoch].target, "/publish/epoch/end/");
    EXPECT_EQ(requests[epoch].Header("content-type"), "application/json");
    EXPECT_EQ(requests[epoch].Header("x-token"), "abc");
    const nlohmann::json body = nlohmann::json::parse(requests[epoch].body);
    EXPECT_EQ(body.at("epoch"), epoch);
    EXPECT_TRUE(body.contains("loss"));
  }
  EXPECT_THAT(run.Errors(), Not(HasSubstr("Could not reach")));
}

TEST(RemoteMonitorTest, WarnsOfAServerThatIsNotThere) {
  setenv("no_proxy", "127.0.0.1", 1);
  SmallJob job;
  Process run = job.Run(
      Set({"callbacks=[{RemoteMonitor: {root: 'http://127.0.0.1:1'}}]"}));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Errors(),
              HasSubstr("Could not reach RemoteMonitor root server at "
                        "http://127.0.0.1:1 ("));
}

}  // namespace
}  // namespace paceline
