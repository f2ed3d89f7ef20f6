#include "coordinator/cli/service/words.h"

#include <gtest/gtest.h>

#include <string>

namespace paceline {
namespace {

v1::Submission MakeSubmission() {
  v1::Submission submission;
  v1::TaskGroup& ps = *submission.add_groups();
  ps.set_type(v1::TASK_TYPE_PS);
  ps.set_count(1);
  v1::TaskGroup& workers = *submission.add_groups();
  workers.set_type(v1::TASK_TYPE_WORKER);
  workers.set_count(3);
  return submission;
}

TEST(WordsTest, AJobsTasksAreNamedIfOneIsNot) {
  for (const char* name : {"leader", "ps-0", "worker-0", "worker-2"}) {
    const auto task = TaskFromText(name);
    ASSERT_TRUE(task.ok()) << task.status();
    EXPECT_TRUE(CheckHasTask(MakeSubmission(), *task).ok()) << name;
  }
  for (const char* name : {"worker-3", "ps-1", "evaluator-0"}) {
    const absl::Status status =
        CheckHasTask(MakeSubmission(), *TaskFromText(name));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              std::string("--task: \"") + name +
                  "\"; expected a task of the job: leader, ps-0, worker-0 to "
                  "worker-2");
  }
}

}  // namespace
}  // namespace paceline
