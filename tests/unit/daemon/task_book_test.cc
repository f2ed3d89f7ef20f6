// The rules by which a daemon follows the coordinator's answers.

#include "common/daemon/task_book.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kService = 77;
const HeldTask kItsLeader = {"job-1", 1, {TaskType::kChief, 0}};
const HeldTask kItsWorker = {"job-1", 1, {TaskType::kWorker, 2}};
const absl::Time kNow = absl::UnixEpoch();

v1::SyncResponse Answer(const std::vector<HeldTask>& tasks,
                        uint64_t coordinator = kService) {
  v1::SyncResponse response;
  response.set_coordinator(coordinator);
  for (const HeldTask& task : tasks) {
    v1::TaskOrder& order = *response.add_orders();
    *order.mutable_task() = task.ToProto();
    if (!task.is_leader()) order.set_leader_address("127.0.0.1:4000");
  }
  return response;
}

class TaskBookTest : public ::testing::Test {
 protected:
  TaskBookTest() : book_(Traits()) {
    const uint64_t first = book_.NextMessage().sequence();
    EXPECT_TRUE(book_.TakeAnswer(first, Answer({}), kNow).ok());
  }

  static v1::SyncRequest Traits() {
    v1::SyncRequest traits;
    traits.set_daemon("node1-worker");
    traits.set_type(v1::TASK_TYPE_WORKER);
    return traits;
  }

  // Sends a message and takes the answer to it.
  TaskBook::Actions Exchange(const std::vector<HeldTask>& ordered,
                             absl::Time now = kNow) {
    return Take(book_.NextMessage().sequence(), Answer(ordered), now);
  }
  TaskBook::Actions Take(uint64_t sequence, const v1::SyncResponse& response,
                         absl::Time now = kNow) {
    absl::StatusOr<TaskBook::Actions> actions =
        book_.TakeAnswer(sequence, response, now);
    EXPECT_TRUE(actions.ok()) << actions.status();
    return actions.ok() ? *std::move(actions) : TaskBook::Actions();
  }

  TaskBook book_;
};

TEST_F(TaskBookTest, TheFirstAnswerTellsTheCoordinatorAndOrdersNothing) {
  TaskBook book(Traits());
  const v1::SyncRequest first = book.NextMessage();
  EXPECT_EQ(first.daemon(), "node1-worker");
  EXPECT_EQ(first.sequence(), 1);
  EXPECT_EQ(first.coordinator(), 0);
  EXPECT_FALSE(book.has_news());
  const auto actions = book.TakeAnswer(1, Answer({kItsWorker}), kNow);
  ASSERT_TRUE(actions.ok());
  EXPECT_THAT(actions->start, IsEmpty());
  EXPECT_TRUE(book.has_news());
  const v1::SyncRequest second = book.NextMessage();
  EXPECT_EQ(second.sequence(), 2);
  EXPECT_EQ(second.coordinator(), kService);
  EXPECT_EQ(second.last_answer(), 1);
  EXPECT_THAT(second.tasks(), IsEmpty());
}

TEST_F(TaskBookTest, StartsWhatIsMissingOnceAndReportsIt) {
  EXPECT_THAT(Exchange({kItsLeader, kItsWorker}).start, SizeIs(2));
  EXPECT_TRUE(book_.has_news());
  book_.SetAddress(kItsLeader, "10.0.0.1:5000");
  const v1::SyncRequest message = book_.NextMessage();
  ASSERT_THAT(message.tasks(), SizeIs(2));
  EXPECT_EQ(message.tasks(0).state(), v1::TASK_STATE_RUNNING);
  EXPECT_EQ(message.tasks(0).address(), "10.0.0.1:5000");
  const TaskBook::Actions actions =
      Take(message.sequence(), Answer({kItsLeader, kItsWorker}));
  EXPECT_THAT(actions.start, IsEmpty());
  EXPECT_THAT(actions.end, IsEmpty());
}

TEST_F(TaskBookTest, FollowsNoAnswerAfterThatToALaterMessage) {
  const uint64_t early = book_.NextMessage().sequence();
  Exchange({});
  EXPECT_THAT(Take(early, Answer({kItsWorker})).start, IsEmpty());
}

TEST_F(TaskBookTest, ANewCoordinatorEndsNothingByItsFirstAnswer) {
  Exchange({kItsWorker});
  const uint64_t sequence = book_.NextMessage().sequence();
  EXPECT_THAT(Take(sequence, Answer({}, kService + 1)).end, IsEmpty());
  EXPECT_TRUE(book_.has_news());
  EXPECT_EQ(book_.NextMessage().coordinator(), kService + 1);
}

TEST_F(TaskBookTest, ANewCoordinatorEndsNothingByAnswersToEarlierMessages) {
  Exchange({kItsWorker});
  const uint64_t first = book_.NextMessage().sequence();
  const uint64_t second = book_.NextMessage().sequence();
  Take(first, Answer({}, kService + 1));
  EXPECT_THAT(Take(second, Answer({}, kService + 1)).end, IsEmpty());
  const uint64_t third = book_.NextMessage().sequence();
  EXPECT_THAT(Take(third, Answer({}, kService + 1)).end,
              ElementsAre(kItsWorker));
}

TEST_F(TaskBookTest, EndsWhatIsWithdrawnAndKillsItAfterTheGrace) {
  Exchange({kItsWorker});
  EXPECT_THAT(Exchange({}).end, ElementsAre(kItsWorker));
  EXPECT_THAT(Exchange({}).end, IsEmpty());
  EXPECT_THAT(book_.TakeOverdue(kNow + kTaskGrace - absl::Seconds(1)),
              IsEmpty());
  EXPECT_THAT(book_.TakeOverdue(kNow + kTaskGrace), ElementsAre(kItsWorker));
  EXPECT_THAT(book_.TakeOverdue(kNow + kTaskGrace), IsEmpty());
}

TEST_F(TaskBookTest, HoldsATaskThatIsOverUntilItsReportIsAnswered) {
  Exchange({kItsWorker});
  const uint64_t before = book_.NextMessage().sequence();
  v1::Usage usage;
  usage.set_cpu_micros(5);
  book_.SetOver(kItsWorker, {3, "why", usage, "no room"});
  // The answer to a message that said that it runs.
  EXPECT_THAT(Take(before, Answer({})).end, IsEmpty());
  v1::SyncRequest message = book_.NextMessage();
  ASSERT_THAT(message.tasks(), SizeIs(1));
  EXPECT_EQ(message.tasks(0).state(), v1::TASK_STATE_OVER);
  EXPECT_EQ(message.tasks(0).exit_code(), 3);
  EXPECT_EQ(message.tasks(0).error(), "why");
  EXPECT_EQ(message.tasks(0).usage().cpu_micros(), 5);
  EXPECT_EQ(message.tasks(0).lost_outputs(), "no room");
  // While it is still ordered, it is neither started again nor forgotten.
  EXPECT_THAT(Take(message.sequence(), Answer({kItsWorker})).start, IsEmpty());
  message = book_.NextMessage();
  EXPECT_THAT(message.tasks(), SizeIs(1));
  Take(message.sequence(), Answer({}));
  EXPECT_TRUE(book_.is_empty());
}

TEST_F(TaskBookTest, ALeaderIsAskedToStopOnce) {
  Exchange({kItsLeader});
  v1::SyncResponse response = Answer({kItsLeader});
  response.mutable_orders(0)->set_should_stop(true);
  EXPECT_THAT(Take(book_.NextMessage().sequence(), response).stop,
              ElementsAre(kItsLeader));
  EXPECT_THAT(Take(book_.NextMessage().sequence(), response).stop, IsEmpty());
}

TEST_F(TaskBookTest, AnInvalidAnswerChangesNothing) {
  Exchange({kItsWorker});
  const HeldTask ps = {"job-2", 1, {TaskType::kPs, 0}};
  const uint64_t sequence = book_.NextMessage().sequence();
  const auto actions = book_.TakeAnswer(sequence, Answer({ps}), kNow);
  EXPECT_EQ(actions.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(actions.status().message()),
              HasSubstr("ps-0 of job-2"));
  const v1::SyncRequest next = book_.NextMessage();
  EXPECT_EQ(next.last_answer(), sequence - 1);
  EXPECT_THAT(next.tasks(), SizeIs(1));
}

TEST_F(TaskBookTest, LeavingEndsAllAndStartsNothing) {
  Exchange({kItsWorker});
  EXPECT_THAT(book_.Leave(kNow), ElementsAre(kItsWorker));
  EXPECT_THAT(book_.TakeOverdue(kNow + kLeavingGrace), ElementsAre(kItsWorker));
  const v1::SyncRequest message = book_.NextMessage();
  EXPECT_TRUE(message.is_leaving());
  EXPECT_THAT(Take(message.sequence(), Answer({kItsWorker, kItsLeader})).start,
              IsEmpty());
  EXPECT_FALSE(book_.HasToldAllEnds());
  book_.SetOver(kItsWorker, {138});
  EXPECT_FALSE(book_.HasToldAllEnds());
  const v1::SyncRequest last = book_.NextMessage();
  ASSERT_THAT(last.tasks(), SizeIs(2));
  EXPECT_EQ(last.tasks(0).error(), "its daemon is leaving");
  EXPECT_FALSE(last.tasks(0).has_usage());
  EXPECT_FALSE(book_.HasToldAllEnds());
  Take(last.sequence(), Answer({kItsLeader}));
  EXPECT_TRUE(book_.HasToldAllEnds());
}

}  // namespace
}  // namespace paceline
