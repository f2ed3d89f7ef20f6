#include "common/cluster/tf_config.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/cluster/address.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// A document with this `cluster` and the first worker.
std::string Config(const std::string& cluster,
                   const std::string& task = R"("worker","index":0)") {
  return absl::StrCat(R"({"cluster":)", cluster, R"(,"task":{"type":)", task,
                      "}}");
}

TEST(TfConfig, ReadsClusterAndTask) {
  const auto config =
      ParseTfConfig(R"({"cluster":{"chief":["c:1"],"ps":["p:2222","q:2222"],)"
                    R"("worker":["w:1","[::1]:80"],"evaluator":["e:9"]},)"
                    R"("task":{"type":"ps","index":1},"environment":"cloud",)"
                    R"("rpc_layer":"grpc"})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->task, (TaskId{TaskType::kPs, 1}));
  EXPECT_FALSE(config->is_dynamic);
  EXPECT_THAT(config->notes, IsEmpty());
  EXPECT_THAT(config->cluster.of(TaskType::kWorker),
              ElementsAre(Pair(0, "w:1"), Pair(1, "[::1]:80")));
  EXPECT_EQ(config->cluster.address({TaskType::kPs, 1}), "q:2222");
  EXPECT_EQ(config->cluster.address({TaskType::kPs, 2}), std::nullopt);
  EXPECT_EQ(config->cluster.count(TaskType::kEvaluator), 1);
}

TEST(TfConfig, TakesByteOrderMarkEmptyListsAndNull) {
  const auto config = ParseTfConfig(absl::StrCat(
      "\xEF\xBB\xBF",
      Config(R"({"worker":["w:1"],"ps":[],"chief":[],"evaluator":null})")));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->cluster.count(TaskType::kPs), 0);
  EXPECT_FALSE(config->is_dynamic);
}

// As TensorFlow takes it.
TEST(TfConfig, TakesAnIndexInQuotes) {
  const auto config = ParseTfConfig(
      Config(R"({"worker":["v:1","w:1"]})", R"("worker","index":"1")"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->task, (TaskId{TaskType::kWorker, 1}));
}

TEST(TfConfig, NamesNoClusterAsIfItWereNotSet) {
  for (const char* json :
       {"", "{}", " {} ", R"({"cluster":{}})", R"({"cluster":{},"task":{}})",
        R"({"environment":"cloud"})"}) {
    EXPECT_TRUE(IsNoTfConfig(json)) << json;
  }
  for (const char* json :
       {"{", "[]", "1", R"({"task":{"type":"worker","index":0}})",
        R"({"cluster":{"worker":["w:1"]}})", R"({"sparseCluster":{"ps":[]}})",
        R"({"cluster":[]})"}) {
    EXPECT_FALSE(IsNoTfConfig(json)) << json;
  }
}

TEST(TfConfig, GivesPort2222AndSaysSo) {
  const auto config = ParseTfConfig(Config(R"({"worker":["w","[::1]"]})"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->cluster.of(TaskType::kWorker),
              ElementsAre(Pair(0, "w:2222"), Pair(1, "[::1]:2222")));
  EXPECT_THAT(
      config->notes,
      ElementsAre("TF_CONFIG: cluster.worker[0]: \"w\" has no port; taking "
                  "w:2222",
                  HasSubstr("cluster.worker[1]: \"[::1]\" has no port")));
}

TEST(TfConfig, AnEvaluatorMayBeToldOfNoCluster) {
  const auto alone =
      ParseTfConfig(R"({"task":{"type":"evaluator","index":0}})");
  ASSERT_TRUE(alone.ok()) << alone.status();
  const auto unlisted = ParseTfConfig(
      Config(R"({"worker":["w:1"]})", R"("evaluator","index":0)"));
  ASSERT_TRUE(unlisted.ok()) << unlisted.status();
}

TEST(TfConfig, ReadsTheSparseForm) {
  const auto config = ParseTfConfig(
      Config(R"({"worker":{"0":"a:1","2":"b:1"},"ps":{"0":"p:1"}})",
             R"("worker","index":2)"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->is_dynamic);
  EXPECT_EQ(config->cluster.address({TaskType::kWorker, 2}), "b:1");
}

TEST(TfConfig, KnowsKubeflowsStaticDialect) {
  const auto config = ParseTfConfig(
      R"({"cluster":{"ps":["job-ps-0.ns.svc:2222"],)"
      R"("worker":["job-worker-0.ns.svc:2222"]},)"
      R"("task":{"type":"worker","index":0},"environment":"cloud"})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->is_dynamic);
}

TEST(TfConfig, KnowsKubeflowsDynamicDialects) {
  for (const char* key : {"cluster", "sparseCluster"}) {
    for (const char* index : {"0", "1"}) {
      const auto worker = ParseTfConfig(
          absl::StrCat(R"({")", key, R"(":{"worker":{")", index,
                       R"(":"w:2222"},"ps":["p:2222","q:2222"]},)",
                       R"("task":{"type":"worker","index":)", index, "}}"));
      ASSERT_TRUE(worker.ok()) << worker.status();
      EXPECT_TRUE(worker->is_dynamic);
      EXPECT_EQ(worker->cluster.count(TaskType::kPs), 2);
    }
    // A ps sees only its own address, and keeps its index.
    const auto ps = ParseTfConfig(
        absl::StrCat(R"({")", key, R"(":{"worker":{},"ps":["p:2222"]},)",
                     R"("task":{"type":"ps","index":3}})"));
    ASSERT_TRUE(ps.ok()) << ps.status();
    EXPECT_TRUE(ps->is_dynamic);
    EXPECT_EQ(ps->cluster.address({TaskType::kPs, 3}), "p:2222");
    // A chief sees nobody.
    const auto chief = ParseTfConfig(
        absl::StrCat(R"({")", key, R"(":{"worker":{},"ps":null},)",
                     R"("task":{"type":"chief","index":0}})"));
    ASSERT_TRUE(chief.ok()) << chief.status();
    EXPECT_TRUE(chief->is_dynamic);
  }
}

TEST(TfConfig, AFullSparseFormIsNotDynamic) {
  for (const char* cluster :
       {R"({"worker":{"0":"w:1"}})",
        R"({"worker":{"0":"w:1"},"ps":{"0":"p:1"}})",
        R"({"worker":{"0":"w:1","1":"v:1"},"ps":["p:1"]})"}) {
    const auto config = ParseTfConfig(Config(cluster));
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_FALSE(config->is_dynamic) << cluster;
  }
}

struct Malformed {
  std::string json;
  std::string message;
};

TEST(TfConfig, RefusesBadDocuments) {
  const Malformed cases[] = {
      {"", "TF_CONFIG: parse error at line 1, column 1"},
      {"{\"cluster\": }", "TF_CONFIG: parse error at line 1, column 13"},
      {"[]", "TF_CONFIG: expected an object, got []"},
      {"{}", "TF_CONFIG: task: missing; expected {\"type\": TYPE"},
      {R"({"task":{"type":"worker","index":0}})",
       "TF_CONFIG: cluster: missing; expected {TYPE: [addresses], ...}"},
      {R"({"cluster":{},"cluster":{}})", "TF_CONFIG: repeated key \"cluster\""},
      {Config(R"({"worker":["a:1"],"worker":["b:1"]})"),
       "TF_CONFIG: repeated key \"worker\""},
      {Config(R"({"worker":{"0":"a:1","0":"b:1"}})"),
       "TF_CONFIG: repeated key \"0\""},
      {R"({"cluster":{},"sparseCluster":{},"task":{"type":"ps","index":0}})",
       "TF_CONFIG: sparseCluster: excludes cluster"},
      {Config("3"), "TF_CONFIG: cluster: expected an object, got 3"},
      {Config("null"), "TF_CONFIG: cluster: expected an object, got null"},
  };
  for (const Malformed& each : cases) {
    const absl::Status status = ParseTfConfig(each.json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << each.json;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message));
  }
  const std::string huge(limits::kMaxTfConfigBytes + 1, ' ');
  EXPECT_EQ(ParseTfConfig(huge).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(TfConfig, RefusesBadTasks) {
  const std::string cluster = R"({"worker":["w:1"]})";
  const Malformed cases[] = {
      {R"("wroker","index":0)",
       "task.type: unknown task type \"wroker\"; did you mean \"worker\"?"},
      {R"("master","index":0)", "task.type: unknown task type \"master\"; "},
      {R"("Worker","index":0)", "task.type: unknown task type \"Worker\""},
      {R"(3,"index":0)", "task.type: expected a string, got 3"},
      {R"("worker")", "task.index: missing; expected an integer from 0"},
      {R"("worker","index":"a")", "task.index: expected an integer, got \"a\""},
      {R"("worker","index":"-1")",
       "task.index: must be from 0 to 9999, got -1"},
      {R"("worker","index":-1)", "task.index: must be from 0 to 9999, got -1"},
      {R"("worker","index":0.5)", "task.index: expected an integer, got 0.5"},
      {R"("worker","index":99999999999999999999)",
       "task.index: expected an integer, got"},
      {R"("worker","index":1)",
       "task.index: out of range; expected an index in cluster.worker, whose "
       "last is 0, got 1"},
      {R"("ps","index":0)",
       "task.type: \"ps\" is not in the cluster; expected one of"},
      {R"("chief","index":0)", "task.type: \"chief\" is not in the cluster"},
      {R"("evaluator","index":1)",
       "task.index: out of range; expected 0, got 1"},
  };
  for (const Malformed& each : cases) {
    const absl::Status status =
        ParseTfConfig(Config(cluster, each.json)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << each.json;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("TF_CONFIG: ", each.message)));
  }
}

TEST(TfConfig, RefusesBadClusters) {
  const Malformed cases[] = {
      {R"({"wrker":["w:1"]})",
       "cluster.wrker: unknown task type \"wrker\"; did you mean \"worker\"?"},
      {R"({"worker":["w:1"],"master":["m:1"]})",
       "cluster.master: unknown task type \"master\""},
      {R"({"worker":"w:1"})",
       "cluster.worker: expected a list of addresses, or an object of "
       "addresses by index, got \"w:1\""},
      {R"({"worker":["w:1",2]})",
       "cluster.worker[1]: expected an address \"host:port\", got 2"},
      {R"({"worker":["w:1","v:1","w:1"]})",
       "cluster.worker[2]: \"w:1\" is the address of cluster.worker[0] too"},
      {R"({"worker":["w:2222"],"ps":["W"]})",
       "cluster.ps[0]: \"W\" is the address of cluster.worker[0] too"},
      {R"({"worker":["w:1"],"chief":["c:1","d:1"]})",
       "cluster.chief: expected at most one chief, of index 0; got 2"},
      {R"({"worker":["w:1"],"evaluator":["c:1","d:1"]})",
       "cluster.evaluator: expected at most one evaluator"},
      {R"({"worker":["w:1"],"chief":{"1":"c:1"}})",
       "cluster.chief: expected at most one chief, of index 0; got 1, of index "
       "1"},
      {R"({"worker":{"-1":"w:1"}})",
       "cluster.worker.-1: expected an index such as \"0\", got \"-1\""},
      {R"({"worker":{"00":"w:1"}})",
       "cluster.worker.00: expected an index such as \"0\", got \"00\""},
      {R"({"worker":{"a":"w:1"}})",
       "cluster.worker.a: expected an index such as \"0\", got \"a\""},
      {R"({"worker":{"10000":"w:1"}})",
       "cluster.worker.10000: the index must be below 10000"},
  };
  for (const Malformed& each : cases) {
    const absl::Status status = ParseTfConfig(Config(each.json)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << each.json;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("TF_CONFIG: ", each.message)));
  }
}

TEST(TfConfig, RefusesBadAddresses) {
  const Malformed cases[] = {
      {"", "it is empty"},
      {" w:1", "there are spaces around it"},
      {"w:1 ", "there are spaces around it"},
      {"w :1", "not a host name"},
      {":1", "the host is empty"},
      {"w:", "the port must be from 1 to 65535"},
      {"w:0", "the port must be from 1 to 65535"},
      {"w:65536", "the port must be from 1 to 65535"},
      {"w:99999999999", "the port must be from 1 to 65535"},
      {"w:-1", "the port must be from 1 to 65535"},
      {"w:+1", "the port must be from 1 to 65535"},
      {"w:1a", "the port must be from 1 to 65535"},
      {"grpc://w:1", "more than one colon"},
      {"w/x:1", "not a host name"},
      {"a..b:1", "not a host name"},
      {"-a:1", "not a host name"},
      {"::1", "more than one colon; IPv6 addresses go in brackets"},
      {"[::1", "not an IPv6 address in brackets"},
      {"[w]:1", "not an IPv6 address in brackets"},
      {"[::1]1", "expected a colon after the bracket"},
      {"1.2.3:1", "not an IPv4 address"},
      {"1.2.3.256:1", "not an IPv4 address"},
  };
  for (const Malformed& each : cases) {
    EXPECT_THAT(std::string(ParseAddress(each.json).status().message()),
                HasSubstr(each.message))
        << each.json;
    const absl::Status status =
        ParseTfConfig(
            Config(absl::StrCat("{\"worker\":[\"ok:1\",\"", each.json, "\"]}")))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr(absl::StrCat("TF_CONFIG: cluster.worker[1]: expected an "
                               "address \"host:port\", got \"",
                               each.json, "\": ", each.message)));
  }
}

TEST(Address, TakesNamesAndIpAddresses) {
  const std::pair<std::string, std::string> cases[] = {
      {"localhost:1", "localhost:1"},
      {"a_b-c.example.org.:65535", "a_b-c.example.org.:65535"},
      {"10.0.0.1:80", "10.0.0.1:80"},
      {"[fe80::1]:80", "[fe80::1]:80"},
      {"w", "w:2222"},
  };
  for (const auto& [text, expected] : cases) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address.ok()) << text << address.status();
    EXPECT_EQ(address->ToString(), expected);
  }
}

}  // namespace
}  // namespace paceline
