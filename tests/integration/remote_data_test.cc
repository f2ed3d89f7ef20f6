// Data by URL.
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/read_fence.h"
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
using ::testing::HasSubstr;
using ::testing::Not;

class RemoteDataTest : public testing::Test {
 protected:
  // A proxy of this machine would not reach the server.
  RemoteDataTest() { setenv("no_proxy", "127.0.0.1", 1); }

  // Names the job's data by URLs below `url`.
  static std::vector<std::string> DataAt(const std::string& url) {
    std::vector<std::string> arguments;
    for (const std::string set : {"train", "test"}) {
      for (const auto& [field, file] :
           {std::pair("features", "images"), std::pair("labels", "labels")}) {
        arguments.push_back("--set");
        arguments.push_back(absl::StrCat("data.", set, ".idx.", field, "=", url,
                                         "/", set, "-", file));
      }
    }
    return arguments;
  }

  std::vector<std::string> WithCache(std::vector<std::string> arguments) const {
    arguments.push_back("--data-cache=" + (job_.folder() / "cache"));
    return arguments;
  }

  // How often each file came whole.
  int Downloads() {
    int count = 0;
    for (const TestRequest& request : server_.requests()) {
      count += request.Header("if-none-match").empty() ? 1 : 0;
    }
    return count;
  }

  SmallJob job_;
  HttpServer server_{[this](const TestRequest& request) {
    const std::string path = job_.folder().path() +
                             request.target.substr(0, request.target.find('?'));
    return std::filesystem::exists(path) ? ServeFile(request, ReadText(path))
                                         : Refuse(404);
  }};
};

TEST_F(RemoteDataTest, ARunIsTheSameAsWithPaths) {
  const std::vector<std::string> steps_together = {
      "--set", "strategy=multi_worker_mirrored", "--set",
      "cluster={worker: 2}"};
  std::vector<nlohmann::json> histories;
  for (const bool is_remote : {false, true}) {
    std::vector<std::string> arguments = steps_together;
    if (is_remote) {
      for (std::string& each : DataAt(server_.Url("")))
        arguments.push_back(std::move(each));
    }
    Process run = job_.Run(WithCache(arguments));
    ExpectExit(run, 0);
    histories.push_back(Column(job_.Result(), "loss"));
  }
  EXPECT_EQ(histories[0], histories[1]);
  // By two workers.
  EXPECT_EQ(Downloads(), 4);
}

TEST_F(RemoteDataTest, WorkersUnderTfConfigFetch) {
  const auto cluster = HandStartedCluster::OnLoopback(job_, 1, 1, 1);
  Process ps = cluster.Start("ps", 0);
  Process worker = cluster.Start("worker", 0, WithCache({}));
  Process chief = cluster.StartChief(DataAt(server_.Url("")));
  ExpectExit(chief, 0);
  ExpectExit(worker, 0);
  EXPECT_EQ(Downloads(), 4);
}

TEST_F(RemoteDataTest, AMissingFileIsNamed) {
  std::vector<std::string> arguments = DataAt(server_.Url(""));
  arguments.insert(arguments.end(),
                   {"--set", absl::StrCat("data.test.idx.labels=",
                                          server_.Url("/none?key=secret"))});
  Process run = job_.Run(WithCache(arguments));
  ExpectExit(run, 2);
  EXPECT_THAT(run.Errors() + job_.Log("worker-0"),
              AllOf(HasSubstr(absl::StrCat(
                        "data.test.idx.labels: ", server_.Url("/none?…"),
                        ": the server answered 404")),
                    Not(HasSubstr("secret"))));
}

TEST_F(RemoteDataTest, ValidationLooksAtTheFormAlone) {
  std::vector<std::string> arguments = {"validate", job_.path()};
  for (std::string& each : DataAt("s3://bucket/folder")) {
    arguments.push_back(std::move(each));
  }
  Process good = job_.Coordinator(arguments);
  ExpectExit(good, 0);
  EXPECT_THAT(good.Output(), HasSubstr("s3://bucket/folder/train-images"));
  Process bad = job_.Coordinator(
      {"validate", job_.path(), "--set",
       "data.train.idx.labels=https://user:secret@host/labels"});
  ExpectExit(bad, 2);
  EXPECT_THAT(bad.Errors(), AllOf(HasSubstr("data.train.idx.labels: "),
                                  HasSubstr("has a user or a password"),
                                  Not(HasSubstr("secret"))));
}

TEST_F(RemoteDataTest, APredictionReadsNoLabels) {
  Process run = job_.Run(WithCache({}));
  ExpectExit(run, 0);
  std::vector<std::string> arguments = {
      "predict",  job_.output_dir() + "/checkpoint", "--job", job_.path(),
      "--output", job_.folder() / "out.npy"};
  for (std::string& each : DataAt(server_.Url(""))) {
    arguments.push_back(std::move(each));
  }
  Process predict = job_.Coordinator(WithCache(arguments));
  ExpectExit(predict, 0);
  ASSERT_EQ(server_.requests().size(), 1);
  EXPECT_EQ(server_.requests()[0].target, "/test-images");
}

TEST_F(RemoteDataTest, CtrlCEndsAPredictionThatFetches) {
  HttpServer silent([](const TestRequest& request) {
    TestReply reply = ServeFile(request, "content");
    reply.pause = absl::Minutes(10);
    return reply;
  });
  Process run = job_.Run({});
  ExpectExit(run, 0);
  const std::string output = job_.folder() / "out.npy";
  Process predict = job_.Coordinator(
      WithCache({"predict", job_.output_dir() + "/checkpoint", "--data",
                 silent.Url("/features.npy"), "--output", output}));
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] { return !silent.requests().empty(); }));
  predict.Signal(SIGINT);
  EXPECT_EQ(predict.Wait(absl::Seconds(5 * kTimeScale)), 130);
  EXPECT_THAT(predict.Errors(), HasSubstr("interrupted"));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(RemoteDataTest, AServiceFetchesWhatItsDaemonsAllow) {
  HttpServer shop([this](const TestRequest& request) {
    const size_t slash = request.target.rfind('/');
    if (request.target == "/open/moved") {
      TestReply reply = Refuse(302);
      reply.headers["Location"] = "/closed/train-labels";
      return reply;
    }
    return ServeFile(
        request, ReadText(job_.folder().path() + request.target.substr(slash)));
  });
  TestService service;
  const std::vector<std::string> allowed = {"--data", shop.Url("/open/")};
  const Process ps = service.StartDaemon("ps_server", "ps", 16, allowed);
  const Process worker = service.StartDaemon("worker", "worker", 16, allowed);
  const auto run = [&](std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), {"submit", job_.path()});
    const std::string id(absl::StripSuffix(service.Run(arguments), "\n"));
    service.Run({"wait", id}, code);
    return service.Run({"logs", id});
  };
  run(DataAt(shop.Url("/open")), 0);
  const size_t before = shop.requests().size();
  EXPECT_EQ(before, 8) << "two workers, of which one asks again";

  EXPECT_THAT(run(DataAt(shop.Url("/closed")), 1),
              AllOf(HasSubstr("data.train.idx.features: "),
                    HasSubstr("not allowed; expected a URL below"),
                    HasSubstr(shop.Url("/open/"))));
  EXPECT_EQ(shop.requests().size(), before);

  std::vector<std::string> moved = DataAt(shop.Url("/open"));
  moved.insert(moved.end(), {"--set", absl::StrCat("data.train.idx.labels=",
                                                   shop.Url("/open/moved"))});
  EXPECT_THAT(run(moved, 1),
              AllOf(HasSubstr("data.train.idx.labels: "),
                    HasSubstr("the server redirects to"),
                    HasSubstr("which no --data of the daemon allows")));
  for (const TestRequest& request : shop.requests()) {
    EXPECT_THAT(request.target, Not(HasSubstr("closed")));
  }
}

// Tests come first, and by URL: while a worker waits for them, it has been told
// the job and has checked its paths.
TEST_F(RemoteDataTest, ALinkThatMovesAfterTheCheckIsNotFollowed) {
  if (const absl::Status fence = ReadFence::Support(); !fence.ok()) {
    GTEST_SKIP() << fence;
  }
  namespace fs = std::filesystem;
  const fs::path open = job_.folder() / "open";
  fs::create_directory(open);
  fs::copy(job_.folder() / "train-images", open / "real");
  const auto lead_to = [&open](const fs::path& target) {
    fs::create_symlink(target, open / "new");
    fs::rename(open / "new", open / "link");
  };
  std::atomic<bool> moves = false;
  HttpServer shop([&](const TestRequest& request) {
    if (moves.exchange(false)) lead_to(job_.folder() / "train-images");
    return ServeFile(request, ReadText(job_.folder().path() + request.target));
  });
  TestService service;
  const std::vector<std::string> allowed = {"--data", shop.Url("/"), "--data",
                                            open.string()};
  const Process ps = service.StartDaemon("ps_server", "ps", 16, allowed);
  const Process worker = service.StartDaemon("worker", "worker", 16, allowed);
  for (const bool does_move : {false, true}) {
    lead_to(open / "real");
    moves = does_move;
    const std::string id(absl::StripSuffix(
        service.Run(
            {"submit", job_.path(), "--set", "cluster.worker=1", "--set",
             "data.test.idx.features=" + shop.Url("/test-images"), "--set",
             "data.train.idx.features=" + (open / "link").string()}),
        "\n"));
    service.Run({"wait", id}, does_move ? 1 : 0);
    if (!does_move) continue;
    EXPECT_FALSE(moves) << "nobody asked for the tests";
    EXPECT_THAT(service.Run({"logs", id}),
                AllOf(HasSubstr("data.train: "),
                      HasSubstr("open/link: Permission denied")));
  }
}

}  // namespace
}  // namespace paceline
