#include "coordinator/queue/queue_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/queue/queue_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

template <typename Message>
struct Refusal {
  std::function<void(Message&)> change;
  std::string error;
};

TEST(CheckSubmissionTest, NamesTheFieldItsValueAndWhatIsExpected) {
  const v1::Submission good = JobOf(2, 1);
  ASSERT_EQ(CheckSubmission(good), absl::OkStatus());
  const Refusal<v1::Submission> refusals[] = {
      {[](auto& m) { m.clear_name(); }, "name: \"\"; expected 1 to 200"},
      {[](auto& m) { m.set_name("a b"); }, "name: \"a b\"; expected"},
      {[](auto& m) { m.set_name("a/b"); }, "name: \"a/b\"; expected"},
      {[](auto& m) { m.set_name(".."); }, "name: \"..\"; expected"},
      {[](auto& m) { m.set_user("\n"); }, "user: \"\\n\"; expected"},
      {[](auto& m) { m.set_idempotency_key(std::string(129, 'k')); },
       "idempotency_key: bytes: 129; expected at most 128"},
      {[](auto& m) { m.clear_groups(); }, "groups: 0 groups; expected one of"},
      {[](auto& m) { *m.add_groups() = m.groups(0); },
       "groups[1].type: TASK_TYPE_WORKER; expected a type that no other"},
      {[](auto& m) { m.mutable_groups(0)->set_type(v1::TASK_TYPE_CHIEF); },
       "groups[0].type: 1; expected TASK_TYPE_PS or"},
      {[](auto& m) { m.mutable_groups(0)->set_count(0); },
       "groups[0].count: 0; expected 1 to 10000"},
      {[](auto& m) { m.mutable_groups(0)->set_count(10'001); },
       "groups[0].count: 10001; expected 1 to 10000"},
      {[](auto& m) {
         m.mutable_groups(0)->mutable_each()->set_memory_bytes(~uint64_t{0});
       },
       "groups[0].each.memory_bytes: 18446744073709551615; expected at most"},
      {[](auto& m) { m.mutable_leader()->set_gpus(1025); },
       "leader.gpus: 1025; expected at most 1024"},
      {[](auto& m) { (*m.mutable_groups(0)->mutable_labels())["a"] = ""; },
       "groups[0].labels.a: \"\"; expected"},
      {[](auto& m) { m.set_timeout_micros(~uint64_t{0}); },
       "timeout_micros: 18446744073709551615; expected at most"},
  };
  for (const auto& refusal : refusals) {
    v1::Submission submission = good;
    refusal.change(submission);
    const absl::Status status = CheckSubmission(submission);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(refusal.error));
  }
}

TEST(CheckSyncTest, NamesTheFieldItsValueAndWhatIsExpected) {
  v1::SyncRequest good;
  good.set_daemon("node");
  good.set_incarnation(1);
  good.set_sequence(1);
  good.set_type(v1::TASK_TYPE_WORKER);
  good.set_version("1");
  v1::TaskReport& report = *good.add_tasks();
  report.mutable_task()->set_job("job-1");
  report.mutable_task()->mutable_task()->set_type(v1::TASK_TYPE_CHIEF);
  report.set_state(v1::TASK_STATE_RUNNING);
  ASSERT_EQ(CheckSync(good), absl::OkStatus());
  const Refusal<v1::SyncRequest> refusals[] = {
      {[](auto& m) { m.set_daemon("\x7f"); }, "daemon: \"\\x7f\"; expected"},
      {[](auto& m) { m.set_incarnation(0); }, "incarnation: 0; expected"},
      {[](auto& m) { m.set_sequence(0); }, "sequence: 0; expected 1 or more"},
      {[](auto& m) { m.set_type(v1::TASK_TYPE_EVALUATOR); }, "type: 4;"},
      {[](auto& m) { m.clear_version(); }, "version: \"\"; expected"},
      {[](auto& m) { m.mutable_tasks(0)->clear_state(); },
       "tasks[0].state: 0; expected TASK_STATE_RUNNING or"},
      {[](auto& m) { m.mutable_tasks(0)->set_exit_code(256); },
       "tasks[0].exit_code: 256; expected at most 255"},
      {[](auto& m) {
         m.mutable_tasks(0)->mutable_usage()->set_cpu_micros(~uint64_t{0});
       },
       "tasks[0].usage.cpu_micros: 18446744073709551615; expected at most "
       "1152921504606846976"},
      {[](auto& m) {
         m.mutable_tasks(0)->mutable_usage()->set_peak_memory_bytes(uint64_t{1}
                                                                    << 47);
       },
       "tasks[0].usage.peak_memory_bytes: 140737488355328; expected at most"},
      {[](auto& m) { m.mutable_tasks(0)->set_error(std::string(5000, 'e')); },
       "tasks[0].error: bytes: 5000; expected at most 4096"},
      {[](auto& m) { *m.add_tasks() = m.tasks(0); },
       "tasks[1]: a task of job-1; expected no task twice"},
      {[](auto& m) {
         for (int i = 0; i < 1000; ++i) *m.add_tasks() = m.tasks(0);
       },
       "tasks: 1001; expected at most 1000"},
  };
  for (const auto& refusal : refusals) {
    v1::SyncRequest request = good;
    refusal.change(request);
    const absl::Status status = CheckSync(request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(refusal.error));
  }
}

}  // namespace
}  // namespace paceline
