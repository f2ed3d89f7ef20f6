#include "coordinator/service/housekeeper.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/identity/sha256.h"
#include "coordinator/service/duty_cycle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// The stores of a service without daemons: its jobs wait, or were stopped.
class HousekeeperTest : public testing::Test {
 protected:
  HousekeeperTest()
      : folder_(
            absl::StrCat(testing::TempDir(), "housekeeper_test.", getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    files_ = *FileStore::Open(folder_ + "/files", {});
    logs_ = *LogStore::Open(folder_ + "/logs", {});
    JobQueueOptions options;
    options.incarnation = 1;
    queue_ =
        *SharedQueue::Open(options, *QueueStore::Open(folder_ + "/queue.db"));
  }
  ~HousekeeperTest() override { std::filesystem::remove_all(folder_); }

  v1::JobFile Put(const std::string& path, const std::string& content) {
    v1::JobFile file;
    file.set_path(path);
    file.set_sha256(Sha256Hex(content));
    file.set_size_bytes(content.size());
    EXPECT_TRUE(files_->Append(file.sha256(), content.size(), 0, content).ok());
    return file;
  }

  // A job with the file, which all jobs share, an output of its own, and a log.
  std::string AddJob(const std::string& name, bool has_ended) {
    v1::Submission submission;
    submission.set_name(name);
    submission.set_user("ann");
    submission.mutable_leader();
    v1::TaskGroup& workers = *submission.add_groups();
    workers.set_type(v1::TASK_TYPE_WORKER);
    workers.set_count(1);
    workers.mutable_each();
    *submission.add_files() = Put("job.yaml", "shared");
    const v1::JobFile output = Put("out/result.json", name);
    const absl::StatusOr<std::string> id =
        queue_->Handle([&](SharedQueue::Books books) {
          return books.queue.Submit(submission, books.now);
        });
    EXPECT_TRUE(id.ok()) << id.status();
    EXPECT_TRUE(queue_
                    ->Handle([&](SharedQueue::Books books) {
                      return books.store.ChangeOutputs(*id, {output}, {});
                    })
                    .ok());
    EXPECT_TRUE(logs_->Append(*id, 1, {TaskType::kWorker, 0}, 0, "log").ok());
    if (has_ended) {
      EXPECT_TRUE(queue_
                      ->Handle([&](SharedQueue::Books books) {
                        return books.queue.StopJob(*id, books.now);
                      })
                      .ok());
    }
    return *id;
  }

  std::vector<std::string> Jobs() {
    std::vector<std::string> ids;
    EXPECT_TRUE(queue_
                    ->Handle([&](SharedQueue::Books books) {
                      for (const v1::JobRecord* job : books.queue.Jobs()) {
                        ids.push_back(job->id());
                      }
                      return absl::OkStatus();
                    })
                    .ok());
    return ids;
  }
  void ForgetJobs(const RetentionLimits& limits) {
    Housekeeper(limits, *queue_, *files_, *logs_).ForgetJobs();
  }

  const std::string folder_;
  std::unique_ptr<FileStore> files_;
  std::unique_ptr<LogStore> logs_;
  std::unique_ptr<SharedQueue> queue_;
};

TEST_F(HousekeeperTest, ForgetsWhatHasEnded) {
  AddJob("ended", true);
  const std::string waits = AddJob("waits", false);
  ForgetJobs({.age = absl::Hours(1)});
  EXPECT_EQ(Jobs().size(), 2);
  ForgetJobs({.age = absl::ZeroDuration()});
  EXPECT_THAT(Jobs(), ElementsAre(waits));
  EXPECT_THAT(logs_->BytesByJob(), ElementsAre(Pair(waits, 3)));

  Housekeeper({}, *queue_, *files_, *logs_).SweepFiles(absl::ZeroDuration());
  EXPECT_EQ(files_->used_bytes(), 2 * 4096);
  EXPECT_TRUE(files_->Find(Sha256Hex("waits"))->is_complete());
  EXPECT_FALSE(files_->Find(Sha256Hex("ended"))->is_complete());
}

TEST_F(HousekeeperTest, ForgetsTheFirstUntilTheOthersAreSmallEnough) {
  AddJob("first", true);
  const std::string waits = AddJob("waits", false);
  const std::string last = AddJob("last", true);
  // The shared file, three outputs, three logs.
  constexpr uint64_t kAll = 4 * 4096 + 3 * 3;
  ForgetJobs({.bytes = kAll});
  EXPECT_EQ(Jobs().size(), 3);
  ForgetJobs({.bytes = kAll - 1});
  EXPECT_THAT(Jobs(), ElementsAre(waits, last));
  // What waits to be swept does not count.
  ForgetJobs({.bytes = kAll - 4096 - 3});
  EXPECT_THAT(Jobs(), ElementsAre(waits, last));
  ForgetJobs({.bytes = 0});
  EXPECT_THAT(Jobs(), ElementsAre(waits));
}

TEST(DutyCycleTest, WorkGetsItsShareOfTheTime) {
  DutyCycle cycle(/*parts=*/50);
  absl::Time now = absl::FromUnixSeconds(1000);
  EXPECT_TRUE(cycle.MayWork(now));
  cycle.Worked(now, now + absl::Seconds(2));
  EXPECT_FALSE(cycle.MayWork(now + absl::Seconds(99)));
  EXPECT_TRUE(cycle.MayWork(now + absl::Seconds(100)));
}

TEST_F(HousekeeperTest, LooksAtSizesForAShareOfTheTime) {
  Housekeeper housekeeper({.bytes = 0}, *queue_, *files_, *logs_);
  std::vector<v1::JobFile> outputs(20'000);
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].set_path(absl::StrCat("out/", i));
  }
  const std::string first = AddJob("first", true);
  EXPECT_TRUE(queue_
                  ->Handle([&](SharedQueue::Books books) {
                    return books.store.ChangeOutputs(first, outputs, {});
                  })
                  .ok());
  housekeeper.ForgetJobs();
  EXPECT_THAT(Jobs(), IsEmpty());
  const std::string second = AddJob("second", true);
  housekeeper.ForgetJobs();
  EXPECT_THAT(Jobs(), ElementsAre(second));
  const absl::Time deadline = MonotonicNow() + absl::Seconds(60);
  while (!Jobs().empty() && MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(10));
    housekeeper.ForgetJobs();
  }
  EXPECT_THAT(Jobs(), IsEmpty());
}

}  // namespace
}  // namespace paceline
