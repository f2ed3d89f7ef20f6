// RemoteMonitor: the requests of Keras' callback.
#include "common/callback/remote_monitor.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/callback/make_callbacks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/callback/callback_runs.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json Monitor(const json& config) {
  return json::array({{{"RemoteMonitor", config}}});
}

PostLogs PostOf(const json& config, const Logs& logs) {
  const auto list = *MakeCallbacks(JobWith(Monitor(config)), TestContext());
  Decision decision = list->EpochEnded({.epoch = 1, .logs = logs});
  EXPECT_EQ(decision.outputs.size(), 1);
  return std::get<PostLogs>(decision.outputs.at(0));
}

// As requests.post(root + path, {field: json.dumps(send)}) does.
TEST(RemoteMonitor, PostsAForm) {
  const PostLogs post =
      PostOf(json::object(), {{"loss", 0.5}, {"val_loss", 1e-7}, {"é \"", 3}});
  EXPECT_EQ(post.url, "http://localhost:9000/publish/epoch/end/");
  EXPECT_THAT(post.headers,
              ElementsAre("Content-Type: application/x-www-form-urlencoded"));
  EXPECT_EQ(post.body,
            "data=%7B%22epoch%22%3A+1%2C+%22loss%22%3A+0.5%2C+%22val_loss%22"
            "%3A+1e-07%2C+%22%5Cu00e9+%5C%22%22%3A+3.0%7D");
  EXPECT_EQ(post.warning,
            "Could not reach RemoteMonitor root server at "
            "http://localhost:9000");
}

TEST(RemoteMonitor, PostsJson) {
  const PostLogs post =
      PostOf({{"root", "https://board.example:1"},
              {"path", "/a?b=c"},
              {"send_as_json", true},
              {"headers", {{"X-Token", "t"}, {"X-Empty", ""}}}},
             {{"loss", NAN}, {"a", -HUGE_VAL}});
  EXPECT_EQ(post.url, "https://board.example:1/a?b=c");
  EXPECT_EQ(post.body, "{\"epoch\": 1, \"loss\": NaN, \"a\": -Infinity}");
  EXPECT_THAT(post.headers, ElementsAre("Content-Type: application/json",
                                        "X-Empty;", "X-Token: t"));
  EXPECT_THAT(
      PostOf({{"headers", {{"content-type", "text/plain"}}}}, {}).headers,
      ElementsAre("content-type: text/plain"));
}

TEST(RemoteMonitor, NamesFieldsThatAreWrong) {
  for (const auto& [config, reason] : std::vector<std::pair<json, std::string>>{
           {{{"root", "localhost:9000"}},
            "root: \"localhost:9000/publish/epoch/end/\" (with `path`); "
            "expected a server's address, such as http://host:9000"},
           {{{"root", "file:///etc"}}, "root: \"file:///etc/"},
           {{{"root", "s3://bucket"}}, "(with `path`); expected a server's"},
           {{{"root", "http://host:99999"}},
            "root: \"http://host:99999/publish/epoch/end/\": expected a port "
            "from 1 to 65535"},
           {{{"root", "http://user:word@host"}}, "root"},
           {{{"headers", {{"X: y\r\nZ", "1"}}}}, "expected a name"},
           {{{"headers", {{"X", "1\r\nHost: other"}}}}, "headers.X"},
           {{{"headers", 1}}, "headers"}}) {
    const auto made = MakeCallbacks(JobWith(Monitor(config)), TestContext());
    EXPECT_THAT(std::string(made.status().message()),
                HasSubstr("callbacks[0]."))
        << config;
    EXPECT_THAT(std::string(made.status().message()), HasSubstr(reason));
  }
}

TEST(RemoteMonitor, IsRefusedWhereItIsNotAllowed) {
  CallbackContext context = TestContext();
  context.allows_exec = false;
  EXPECT_THAT(
      std::string(MakeCallbacks(JobWith(Monitor(json::object())), context)
                      .status()
                      .message()),
      HasSubstr("callbacks[0]: RemoteMonitor sends to any address"));
}

}  // namespace
}  // namespace paceline
