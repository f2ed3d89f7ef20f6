// The queue that the threads of a coordinator share.
#include "coordinator/service/shared_queue.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/store/store_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kPatience(20);
constexpr absl::Duration kLong = absl::Minutes(10);
constexpr char kNews[] = "news";

class SharedQueueTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    Open();
  }
  void TearDown() override {
    lookers_.clear();
    queue_.reset();
    StoreTest::TearDown();
  }

  void Open() {
    auto store = QueueStore::Open(Path("queue"));
    ASSERT_TRUE(store.ok()) << store.status();
    JobQueueOptions options;
    options.incarnation = 1;
    auto queue = SharedQueue::Open(options, *std::move(store));
    ASSERT_TRUE(queue.ok()) << queue.status();
    queue_ = *std::move(queue);
  }
  // Each transaction that stores a job fails from now on.
  void LoseTheDisk() {
    queue_.reset();
    RunSql(Path("queue"),
           "CREATE TRIGGER refuse BEFORE INSERT ON jobs "
           "BEGIN SELECT RAISE(ABORT, 'the disk is gone'); END");
    Open();
  }

  static absl::StatusOr<std::string> SubmitTo(SharedQueue::Books& books) {
    v1::Submission submission;
    submission.set_name("job");
    submission.set_user("ann");
    submission.mutable_leader();
    v1::TaskGroup& workers = *submission.add_groups();
    workers.set_type(v1::TASK_TYPE_WORKER);
    workers.set_count(1);
    workers.mutable_each();
    return books.queue.Submit(submission, books.now);
  }
  absl::StatusOr<std::string> Submit() {
    return queue_->Handle(
        [](SharedQueue::Books books) { return SubmitTo(books); });
  }
  static std::vector<std::string> StoredIn(SharedQueue::Books& books) {
    std::vector<std::string> ids;
    const absl::StatusOr<StoredQueue> stored = books.store.Load();
    EXPECT_TRUE(stored.ok()) << stored.status();
    for (const v1::JobRecord& job : stored->jobs) ids.push_back(job.id());
    return ids;
  }

  // Whether another thread gets at the queue while this one waits.
  bool IsFree() {
    lookers_.push_back(std::async(std::launch::async,
                                  [this] { queue_->failure().IgnoreError(); }));
    return lookers_.back().wait_for(std::chrono::seconds(5)) ==
           std::future_status::ready;
  }

  // A call that has its answer at its try number `wanted`, or the last one. The
  // result is what it was told: "answer", "last", or the error.
  std::future<std::string> Ask(int wanted, absl::Duration timeout,
                               bool is_news = false) {
    const auto told = std::make_shared<std::promise<std::string>>();
    const auto tries = std::make_shared<int>(0);
    const auto tell = [this, told](const std::string& what) {
      told->set_value(IsFree() ? what : what + " under the lock");
    };
    std::future<std::string> result = told->get_future();
    queue_->Await(
        kNews, timeout, is_news,
        [=](SharedQueue::Books& /*books*/,
            bool is_last_try) -> std::function<void()> {
          if (++*tries < wanted && !is_last_try) return nullptr;
          return [=] { tell(is_last_try ? "last" : "answer"); };
        },
        [=](const absl::Status& why) { tell(why.ToString()); });
    return result;
  }
  static std::string Told(std::future<std::string>& result) {
    return result.wait_for(kPatience) == std::future_status::ready
               ? result.get()
               : "nothing";
  }
  static bool Waits(const std::future<std::string>& result) {
    return result.wait_for(std::chrono::seconds(0)) ==
           std::future_status::timeout;
  }

  std::unique_ptr<SharedQueue> queue_;
  std::vector<std::future<void>> lookers_;
};

TEST_F(SharedQueueTest, AnAnswerThatIsThereIsSentAtOnce) {
  std::future<std::string> call = Ask(1, kLong);
  EXPECT_EQ(Told(call), "answer");
}

TEST_F(SharedQueueTest, NewsLetThoseTryAgainWhoWaitForThem) {
  std::future<std::string> call = Ask(3, kLong);
  queue_->Wake("other news");
  queue_->Wake(kNews);
  EXPECT_TRUE(Waits(call));
  queue_->Wake(kNews);
  EXPECT_EQ(Told(call), "answer");
}

TEST_F(SharedQueueTest, ACallMayBeNewsItself) {
  std::future<std::string> first = Ask(2, kLong);
  std::future<std::string> second = Ask(2, kLong);
  EXPECT_TRUE(Waits(first));
  std::future<std::string> third = Ask(1, kLong, /*is_news=*/true);
  EXPECT_EQ(Told(first), "answer");
  EXPECT_EQ(Told(second), "answer");
  EXPECT_EQ(Told(third), "answer");
}

TEST_F(SharedQueueTest, TheLastTryIsAfterTheTimeout) {
  std::future<std::string> call = Ask(100, absl::Milliseconds(50));
  std::future<std::string> other = Ask(100, kLong);
  EXPECT_EQ(Told(call), "last");
  EXPECT_TRUE(Waits(other));
  queue_->EndWaits();
  EXPECT_EQ(Told(other), "last");
}

TEST_F(SharedQueueTest, NobodyWaitsAfterTheEndOfWaits) {
  queue_->EndWaits();
  std::future<std::string> call = Ask(100, kLong);
  EXPECT_EQ(Told(call), "last");
}

TEST_F(SharedQueueTest, AnEventWakesThoseWhoWaitForItsJob) {
  const absl::StatusOr<std::string> id = Submit();
  ASSERT_TRUE(id.ok()) << id.status();
  std::promise<bool> told;
  std::future<bool> is_free = told.get_future();
  queue_->Await(
      NewsOfJob(*id), kLong, /*is_news=*/false,
      [&, tries = 0](SharedQueue::Books&,
                     bool) mutable -> std::function<void()> {
        if (++tries < 2) return nullptr;
        return [&] { told.set_value(IsFree()); };
      },
      [](const absl::Status& why) { ADD_FAILURE() << why; });
  EXPECT_TRUE(queue_
                  ->Handle([&](SharedQueue::Books books) {
                    return books.queue.StopJob(*id, books.now);
                  })
                  .ok());
  ASSERT_EQ(is_free.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(is_free.get()) << "sent under the lock";
}

TEST_F(SharedQueueTest, WhatIsToldIsOnDisk) {
  std::string submitted;
  std::vector<std::string> before = {"unseen"};
  std::vector<std::string> after;
  queue_->Await(
      kNews, kLong, /*is_news=*/false,
      [&](SharedQueue::Books& books, bool) -> std::function<void()> {
        const absl::StatusOr<std::string> id = SubmitTo(books);
        EXPECT_TRUE(id.ok()) << id.status();
        submitted = id.value_or("");
        before = StoredIn(books);
        return [&] {
          after = queue_
                      ->Handle([](SharedQueue::Books own) {
                        return absl::StatusOr<std::vector<std::string>>(
                            StoredIn(own));
                      })
                      .value();
        };
      },
      [](const absl::Status& why) { ADD_FAILURE() << why; });
  EXPECT_THAT(before, IsEmpty());
  EXPECT_THAT(after, ElementsAre(submitted));
}

TEST_F(SharedQueueTest, AfterAFailureOfTheStoreNothingIsTold) {
  LoseTheDisk();
  std::future<std::string> woken = Ask(2, kLong);
  std::future<std::string> ended = Ask(3, kLong);
  EXPECT_TRUE(queue_->failure().ok());

  const absl::Status lost = Submit().status();
  EXPECT_TRUE(absl::IsUnavailable(lost)) << lost;
  EXPECT_THAT(lost.message(), HasSubstr("the disk is gone"));
  EXPECT_EQ(queue_->failure(), lost);
  // One that stores nothing might tell of the job that is lost.
  EXPECT_EQ(queue_->Handle([](SharedQueue::Books) { return absl::OkStatus(); }),
            lost);

  queue_->Wake(kNews);
  EXPECT_EQ(Told(woken), lost.ToString());
  EXPECT_TRUE(Waits(ended));
  queue_->EndWaits();
  EXPECT_EQ(Told(ended), lost.ToString());
  std::future<std::string> late = Ask(1, kLong);
  EXPECT_EQ(Told(late), lost.ToString());
}

// The call's own event is the first that cannot be stored.
TEST_F(SharedQueueTest, ACallWhoseEventIsLostIsToldSo) {
  LoseTheDisk();
  absl::Status told;
  queue_->Await(
      kNews, kLong, /*is_news=*/false,
      [](SharedQueue::Books& books, bool) -> std::function<void()> {
        EXPECT_TRUE(SubmitTo(books).ok());
        return [] { ADD_FAILURE() << "answered"; };
      },
      [&told](const absl::Status& why) { told = why; });
  EXPECT_TRUE(absl::IsUnavailable(told)) << told;
}

}  // namespace
}  // namespace paceline
