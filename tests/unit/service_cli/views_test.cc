#include "coordinator/cli/service/views.h"

#include <string>

#include "coordinator/cli/service/json_views.h"
#include "coordinator/cli/service/table.h"
#include "coordinator/cli/service/words.h"
#include "coordinator/cli/service/yaml_text.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

v1::JobView ExampleJob() {
  v1::JobView job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        record {
          id: "mnist-17"
          number: 17
          submission {
            idempotency_key: "k"
            name: "mnist"
            user: "ada"
            priority: 5
            groups {
              type: TASK_TYPE_PS
              count: 1
              each { millicores: 500 }
            }
            groups {
              type: TASK_TYPE_WORKER
              count: 2
              each { millicores: 1000 memory_bytes: 1073741824 gpus: 1 }
              labels { key: "zone" value: "b" }
            }
            leader { millicores: 100 }
            retries: 3
            timeout_micros: 3600000000
            files { path: "job.yaml" sha256: "ab" size_bytes: 10 }
            overrides: "epochs=2"
            overrides: "name=\"mnist\""
          }
          state: JOB_STATE_FAILED
          generation: 2
          failures: 2
          submitted_micros: 1799990000000000
          started_micros: 1799996100000000
          ended_micros: 1800000000000000
          placements {
            task { type: TASK_TYPE_CHIEF }
            daemon: "host-a"
            state: TASK_STATE_OVER
            exit_code: 1
            usage { cpu_micros: 1500000 peak_memory_bytes: 1572864 }
          }
          placements {
            task { type: TASK_TYPE_WORKER index: 1 }
            daemon: "host-b"
            state: TASK_STATE_RUNNING
            address: "host-b:4000"
          }
          error: "the loss\nis \x1b[31mNaN"
        }
        outputs { path: "out/result.json" sha256: "cd" size_bytes: 2048 }
        result_json: '{"steps": 100, "metrics": {"loss": 0.5}}'
      )pb",
      &job));
  return job;
}

v1::MemberView ExampleMember() {
  v1::MemberView member;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        record {
          name: "host-b"
          type: TASK_TYPE_WORKER
          version: "1.2"
          total { millicores: 16000 memory_bytes: 68719476736 gpus: 4 }
          labels { key: "zone" value: "b" }
          labels { key: "gpu" value: "a100" }
          last_heard_micros: 1799999997000000
        }
        used { millicores: 1500 memory_bytes: 1073741824 gpus: 1 }
        jobs: "mnist-17"
        is_open: true
      )pb",
      &member));
  return member;
}

TEST(ViewsTest, JobsAreATable) {
  v1::JobView queued;
  queued.mutable_record()->set_id("j-1");
  queued.mutable_record()->set_state(v1::JOB_STATE_QUEUED);
  queued.mutable_record()->set_submitted_micros(1'799'999'997'000'000);
  EXPECT_EQ(TableText(JobRows({ExampleJob(), queued}, false, kNow)),
            "ID        STATE   TASKS            AGE    TOOK\n"
            "mnist-17  failed  2 workers, 1 ps  2h46m  1h5m\n"
            "j-1       queued  -                3s     -\n");
  EXPECT_EQ(TableText(JobRows({ExampleJob()}, true, kNow)),
            "ID        STATE   TASKS            AGE    TOOK  USER  PRIORITY  "
            "STARTS  ERROR\n"
            "mnist-17  failed  2 workers, 1 ps  2h46m  1h5m  ada   5         "
            "2       the loss\\nis \\x1b[31mNaN\n");
}

TEST(ViewsTest, DaemonsAreATable) {
  EXPECT_EQ(TableText(MemberRows({ExampleMember()}, true, kNow)),
            "NAME    TYPE    STATE  JOBS  CORES   MEMORY        GPUS  VERSION "
            " LABELS           HEARD\n"
            "host-b  worker  open   1     1.5/16  1 GiB/64 GiB  1/4   1.2    "
            "  gpu=a100,zone=b  3s ago\n");
  v1::MemberView member = ExampleMember();
  member.mutable_record()->set_is_drained(true);
  EXPECT_EQ(MemberRows({member}, false, kNow)[1][2], "drained");
  member.set_is_leaving(true);
  EXPECT_EQ(MemberRows({member}, false, kNow)[1][2], "leaving");
  member.set_is_lost(true);
  EXPECT_EQ(MemberRows({member}, false, kNow)[1][2], "lost");
}

TEST(ViewsTest, AJobIsJson) {
  EXPECT_EQ(JobJson(ExampleJob(), kNow), ordered_json::parse(R"json({
    "id": "mnist-17", "name": "mnist", "user": "ada", "state": "FAILED",
    "why_queued": "", "error": "the loss\nis \u001b[31mNaN", "priority": 5,
    "starts": 2, "failures": 2, "retries": 3, "timeout_seconds": 3600.0,
    "submitted": "2027-01-15T05:13:20Z", "started": "2027-01-15T06:55:00Z",
    "ended": "2027-01-15T08:00:00Z", "took_seconds": 3900.0,
    "groups": [
      {"type": "ps", "count": 1,
       "each": {"cores": 0.5, "memory_bytes": 0, "gpus": 0}, "labels": {}},
      {"type": "worker", "count": 2,
       "each": {"cores": 1.0, "memory_bytes": 1073741824, "gpus": 1},
       "labels": {"zone": "b"}}],
    "leader": {"cores": 0.1, "memory_bytes": 0, "gpus": 0},
    "overrides": ["epochs=2"],
    "files": [{"path": "job.yaml", "size_bytes": 10, "sha256": "ab"}],
    "tasks": [
      {"task": "leader", "daemon": "host-a", "state": "over", "address": "",
       "exit_code": 1, "cpu_seconds": 1.5, "peak_memory_bytes": 1572864,
       "error": "", "lost_outputs": ""},
      {"task": "worker-1", "daemon": "host-b", "state": "running",
       "address": "host-b:4000", "exit_code": null, "cpu_seconds": null,
       "peak_memory_bytes": null, "error": "", "lost_outputs": ""}],
    "outputs": [{"path": "out/result.json", "size_bytes": 2048,
                 "sha256": "cd"}],
    "result": {"steps": 100, "metrics": {"loss": 0.5}}})json"));
  const ordered_json summary = JobSummaryJson(ExampleJob(), kNow);
  for (const char* key : {"tasks", "files", "outputs", "result"}) {
    EXPECT_FALSE(summary.contains(key)) << key;
  }
}

TEST(ViewsTest, ATaskSaysThatItsOutputsAreLost) {
  v1::JobView job = ExampleJob();
  job.mutable_record()->mutable_placements(0)->set_lost_outputs("no room");
  EXPECT_THAT(JobText(job, kNow), HasSubstr("outputs are lost: no room"));
  EXPECT_EQ(JobJson(job, kNow)["tasks"][0]["lost_outputs"], "no room");
}

TEST(ViewsTest, AResultThatIsNoJsonStaysText) {
  v1::JobView job = ExampleJob();
  job.set_result_json("{");
  EXPECT_EQ(JobJson(job, kNow)["result"], "{");
  job.clear_result_json();
  EXPECT_TRUE(JobJson(job, kNow)["result"].is_null());
}

TEST(ViewsTest, ADaemonIsJson) {
  EXPECT_EQ(MemberJson(ExampleMember()), ordered_json::parse(R"json({
    "name": "host-b", "type": "worker", "state": "open", "is_drained": false,
    "version": "1.2", "labels": {"gpu": "a100", "zone": "b"},
    "total": {"cores": 16.0, "memory_bytes": 68719476736, "gpus": 4},
    "used": {"cores": 1.5, "memory_bytes": 1073741824, "gpus": 1},
    "jobs": ["mnist-17"], "last_heard": "2027-01-15T07:59:57Z"})json"));
}

TEST(ViewsTest, AJobIsText) {
  const std::string text = JobText(ExampleJob(), kNow);
  EXPECT_THAT(text, HasSubstr("id:          mnist-17\n"));
  EXPECT_THAT(text, HasSubstr("state:       failed\n"));
  EXPECT_THAT(text,
              HasSubstr("submitted:   2027-01-15T05:13:20Z (2h46m ago)\n"));
  EXPECT_THAT(text, HasSubstr("starts:      2, 2 failed, 3 retries\n"));
  EXPECT_THAT(text, HasSubstr("worker:      2, each with 1 core, 1 GiB, 1 GPU, "
                              "on zone=b\n"));
  EXPECT_THAT(text,
              HasSubstr("tasks:\n"
                        "  TASK      DAEMON  STATE    EXIT  CPU   MEMORY  "
                        " ERROR\n"
                        "  leader    host-a  over     1     1.5s  1.5 MiB "
                        " -\n"
                        "  worker-1  host-b  running  -     -     -       "
                        " -\n"));
  EXPECT_THAT(text, HasSubstr("  out/result.json  2 KiB\n"));
  EXPECT_THAT(text, HasSubstr("  metrics: {\"loss\":0.5}\n"));
  // What comes from elsewhere cannot steer the terminal.
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ViewsTest, TasksHaveNames) {
  for (const char* name : {"leader", "worker-12", "ps-0", "evaluator-0"}) {
    const auto task = TaskFromText(name);
    ASSERT_TRUE(task.ok()) << task.status();
    EXPECT_EQ(TaskText(*task), name);
  }
  for (const char* name : {"", "worker", "worker-", "worker--1", "chief-0",
                           "worker-99999999999"}) {
    EXPECT_EQ(TaskFromText(name).status().message(),
              std::string("--task: \"") + name +
                  "\"; expected leader, or a task such as worker-1");
  }
}

}  // namespace
}  // namespace paceline
