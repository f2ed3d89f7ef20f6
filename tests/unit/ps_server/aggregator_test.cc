#include "ps_server/aggregator.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/ps_server/aggregator_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What follows from an asynchronous push: it is applied and answered, or only
// one of these. Returns the first.
PushDecision Push(Aggregator& aggregator, const v1::WorkerId& worker,
                  uint64_t sequence) {
  const auto decisions = aggregator.HandlePush(9, worker, Progress(sequence));
  for (const PushDecision& decision : decisions) EXPECT_EQ(decision.ticket, 9u);
  EXPECT_EQ(decisions.size(),
            decisions.front().verdict == Verdict::kApply ? 2u : 1u);
  EXPECT_EQ(decisions.back().verdict, decisions.size() == 2
                                          ? Verdict::kAnswer
                                          : decisions.front().verdict);
  return decisions.front();
}

TEST(AggregatorTest, AppliesEachPushOnce) {
  const v1::WorkerId worker = Worker(0, 7);
  Aggregator aggregator = MakeAggregator({worker});
  PushDecision decision = Push(aggregator, worker, 1);
  EXPECT_EQ(decision.verdict, Verdict::kApply);
  EXPECT_EQ(decision.step, 0);
  EXPECT_EQ(Push(aggregator, worker, 2).step, 1);
  for (uint64_t repeat : {1, 2}) {
    decision = Push(aggregator, worker, repeat);
    EXPECT_EQ(decision.verdict, Verdict::kAnswer);
    EXPECT_EQ(decision.step, 2);
  }
  EXPECT_EQ(aggregator.step(), 2);
}

TEST(AggregatorTest, CountsWorkersAndIncarnationsApart) {
  Aggregator aggregator =
      MakeAggregator({Worker(0, 7), Worker(1, 7), Worker(0, 8)});
  EXPECT_EQ(Push(aggregator, Worker(0, 7), 1).verdict, Verdict::kApply);
  EXPECT_EQ(Push(aggregator, Worker(1, 7), 1).verdict, Verdict::kApply);
  EXPECT_EQ(Push(aggregator, Worker(0, 8), 1).verdict, Verdict::kApply);
  EXPECT_EQ(Push(aggregator, Worker(0, 8), 1).verdict, Verdict::kAnswer);
  EXPECT_EQ(aggregator.step(), 3);
}

TEST(AggregatorTest, RefusesFencedWorkersAndSaysHowFarTheyWere) {
  const v1::WorkerId worker = Worker(4, 0xf3a1);
  Aggregator aggregator = MakeAggregator({worker, Worker(4, 1)});
  Push(aggregator, worker, 1);
  Push(aggregator, worker, 2);
  EXPECT_EQ(aggregator.Fence(worker).response.progress().sequence(), 2u);
  EXPECT_EQ(aggregator.Fence(worker).response.progress().lease().examples(),
            128u);

  for (uint64_t sequence : {2, 3}) {
    const PushDecision decision = Push(aggregator, worker, sequence);
    EXPECT_EQ(decision.verdict, Verdict::kRefuse);
    EXPECT_EQ(decision.error.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(std::string(decision.error.message()),
                AllOf(HasSubstr("this process of worker-4 is fenced"),
                      Not(HasSubstr("f3a1"))));
  }
  EXPECT_EQ(aggregator.step(), 2);
  // Its successor is another worker.
  EXPECT_EQ(Push(aggregator, Worker(4, 1), 1).verdict, Verdict::kApply);
}

TEST(AggregatorTest, FencesAWorkerThatNeverPushed) {
  Aggregator aggregator = MakeAggregator({Worker(0, 7)});
  EXPECT_FALSE(aggregator.Fence(Worker(0, 7)).response.has_progress());
  EXPECT_EQ(Push(aggregator, Worker(0, 7), 1).verdict, Verdict::kRefuse);
}

TEST(AggregatorTest, RefusesPushesWithoutIdentity) {
  Aggregator aggregator;
  for (const PushDecision& decision :
       {Push(aggregator, Worker(0, 0), 1), Push(aggregator, Worker(0, 7), 0)}) {
    EXPECT_EQ(decision.verdict, Verdict::kRefuse);
    EXPECT_EQ(decision.error.code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(aggregator.step(), 0);
}

TEST(AggregatorTest, RemembersWhatItSaved) {
  Aggregator before =
      MakeAggregator({Worker(0, 7), Worker(1, 0xfedcba9876543210)});
  Push(before, Worker(0, 7), 1);
  Push(before, Worker(1, 0xfedcba9876543210), 5);
  before.Fence(Worker(0, 7));
  before.Fence(Worker(2, 9));
  std::map<std::string, std::string> saved = before.Save();
  EXPECT_EQ(saved.count("worker/1/fedcba9876543210"), 1u);
  EXPECT_EQ(saved.count("fenced/0/7"), 1u);
  saved["format"] = "paceline";

  auto after = Aggregator::Restore(before.step(), saved, FiveWorkers());
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->step(), 2);
  const v1::WorkerId worker = Worker(1, 0xfedcba9876543210);
  EXPECT_EQ(Push(*after, worker, 5).verdict, Verdict::kAnswer);
  EXPECT_EQ(Push(*after, worker, 6).verdict, Verdict::kApply);
  EXPECT_EQ(Push(*after, Worker(0, 7), 2).verdict, Verdict::kRefuse);
  EXPECT_EQ(Push(*after, Worker(2, 9), 1).verdict, Verdict::kRefuse);
  v1::Progress without_sums = Progress(1);
  without_sums.mutable_lease()->clear_sums();
  const v1::Progress progress = after->Fence(Worker(0, 7)).response.progress();
  EXPECT_EQ(progress.SerializeAsString(), without_sums.SerializeAsString());
}

TEST(AggregatorTest, DamagedRecordsAreDataLoss) {
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"worker/0", "{}"},
                                          {"worker/x/7", "{}"},
                                          {"worker/0/7g", "{}"},
                                          {"worker/0/7", "{"},
                                          {"fenced/-1/7", ""}}) {
    const absl::Status status = Aggregator::Restore(0, {{key, value}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << key;
    EXPECT_THAT(std::string(status.message()), HasSubstr(key));
  }
}

// Who was not named by the leader is refused, and leaves no trace.
TEST(AggregatorTest, RefusesWhoWasNotAdmittedAndRemembersNothing) {
  Aggregator aggregator = MakeAggregator({Worker(0, 7)});
  for (uint64_t incarnation = 8; incarnation < 1000; ++incarnation) {
    const PushDecision decision = Push(aggregator, Worker(0, incarnation), 1);
    EXPECT_EQ(decision.verdict, Verdict::kRefuse);
    EXPECT_EQ(decision.error.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(decision.error.message()),
                HasSubstr("this process of worker-0 was not admitted"));
  }
  EXPECT_EQ(aggregator.step(), 0);
  EXPECT_THAT(aggregator.Save(), IsEmpty());
  for (const v1::WorkerId& nobody : {Worker(5, 7), Worker(0, 0)}) {
    EXPECT_EQ(aggregator.Admit(nobody).code(),
              absl::StatusCode::kInvalidArgument);
    aggregator.Fence(nobody);
  }
  EXPECT_THAT(aggregator.Save(), IsEmpty());
}

TEST(AggregatorTest, AdmissionsComeTwiceAndLate) {
  const v1::WorkerId worker = Worker(0, 7);
  Aggregator aggregator = MakeAggregator({worker, worker});
  EXPECT_EQ(Push(aggregator, worker, 1).verdict, Verdict::kApply);
  aggregator.Fence(worker);
  // Overtaken by the fences.
  aggregator.Fence(Worker(1, 9));
  for (const v1::WorkerId& late : {worker, Worker(1, 9)}) {
    EXPECT_TRUE(aggregator.Admit(late).ok());
    EXPECT_EQ(Push(aggregator, late, 2).error.code(),
              absl::StatusCode::kAborted);
  }
  EXPECT_EQ(aggregator.Fence(worker).response.progress().sequence(), 1u);
}

// A worker may be started again any number of times.
TEST(AggregatorTest, ForgetsTheOldestProcessesOfARank) {
  Aggregator aggregator(0, FiveWorkers());
  for (uint64_t incarnation = 1; incarnation <= 1000; ++incarnation) {
    const v1::WorkerId worker = Worker(2, incarnation);
    ASSERT_TRUE(aggregator.Admit(worker).ok());
    EXPECT_EQ(Push(aggregator, worker, 1).verdict, Verdict::kApply);
    aggregator.Fence(worker);
  }
  EXPECT_EQ(aggregator.Save().size(), 2u * limits::kMaxKnownProcesses);
  EXPECT_EQ(Push(aggregator, Worker(2, 1000), 2).error.code(),
            absl::StatusCode::kAborted);
  EXPECT_EQ(Push(aggregator, Worker(2, 1), 2).error.code(),
            absl::StatusCode::kFailedPrecondition);

  // Of a checkpoint, too, those go that the leader does not name any more.
  auto restored =
      Aggregator::Restore(aggregator.step(), aggregator.Save(), FiveWorkers());
  ASSERT_TRUE(restored.ok());
  for (uint64_t i = 0; i < limits::kMaxKnownProcesses; ++i) {
    ASSERT_TRUE(restored->Admit(Worker(2, 2000 + i)).ok());
  }
  EXPECT_EQ(restored->Admit(Worker(2, 3000)).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(restored->Admit(Worker(3, 3000)).ok());
  restored->Fence(Worker(2, 3001));
  EXPECT_THAT(restored->Save(), IsEmpty());
}

TEST(AggregatorTest, KeepsReportsOfTheSizeOfTheJobAlone) {
  const v1::WorkerId worker = Worker(0, 7);
  Aggregator aggregator = MakeAggregator({worker});
  v1::Progress progress = Progress(1);
  for (int i = 0; i < 1000; ++i) {
    progress.mutable_previous()->mutable_sums()->add_states(0);
  }
  std::vector<PushDecision> decisions =
      aggregator.HandlePush(1, worker, progress);
  EXPECT_EQ(decisions[0].error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(decisions[0].error.message()),
      HasSubstr("1000 numbers of the loss and the metrics; expected 2"));
  progress = Progress(1);
  progress.mutable_lease()->mutable_sums()->mutable_states()->RemoveLast();
  decisions = aggregator.HandlePush(2, worker, progress);
  EXPECT_EQ(decisions[0].verdict, Verdict::kRefuse);
  progress.mutable_lease()->clear_sums();
  decisions = aggregator.HandlePush(2, worker, progress);
  EXPECT_EQ(decisions[0].verdict, Verdict::kApply) << "of an early push";
  progress = Progress(2);
  progress.mutable_lease()->clear_sums();
  progress.mutable_lease()->set_first_nonfinite_step(1);
  decisions = aggregator.HandlePush(3, worker, progress);
  EXPECT_EQ(decisions[0].error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(decisions[0].error.message()),
              HasSubstr("without sums has 1 as first_nonfinite_step"));
  // Fields of another version are not kept.
  ASSERT_TRUE(progress.ParseFromString(Progress(2).SerializeAsString() +
                                       std::string("\xfa\x3e\x05noise", 8)));
  decisions = aggregator.HandlePush(3, worker, progress);
  EXPECT_EQ(decisions[0].verdict, Verdict::kApply) << decisions[0].error;
  EXPECT_EQ(aggregator.Fence(worker).response.progress().SerializeAsString(),
            Progress(2).SerializeAsString());
}

class SynchronousAggregatorTest : public ::testing::Test {
 protected:
  static AggregatorOptions Options(bool applies_apart = false) {
    AggregatorOptions options;
    options.consistency = v1::CONSISTENCY_SYNC;
    options.workers = 3;
    options.applies_apart = applies_apart;
    return options;
  }
  std::vector<std::string> Push(uint32_t rank, uint64_t ticket,
                                uint64_t sequence) {
    return Words(aggregator_.HandlePush(ticket, Worker(rank, 7 + rank),
                                        Progress(sequence)));
  }

  static Aggregator Make(bool applies_apart = false, int64_t step = 0) {
    return MakeAggregator({Worker(0, 7), Worker(1, 8), Worker(2, 9)},
                          Options(applies_apart), step);
  }

  Aggregator aggregator_ = Make();
};

TEST_F(SynchronousAggregatorTest, SumsUpInTheOrderOfRanks) {
  EXPECT_THAT(Push(2, 1, 1), IsEmpty());
  EXPECT_THAT(Push(0, 2, 1), IsEmpty());
  EXPECT_EQ(aggregator_.step(), 0);
  EXPECT_THAT(Push(1, 3, 1), ElementsAre("add 2", "add 3", "add 1", "apply sum",
                                         "answer 2", "answer 3", "answer 1"));
  EXPECT_EQ(aggregator_.step(), 1);
  EXPECT_THAT(Push(0, 4, 2), IsEmpty());
}

TEST_F(SynchronousAggregatorTest, ARepeatTakesThePlaceOfWhatIsHeld) {
  Push(0, 1, 1);
  EXPECT_THAT(Push(0, 2, 1), ElementsAre("refuse 1"));
  Push(1, 3, 1);
  EXPECT_THAT(Push(2, 4, 1), ElementsAre("add 2", "add 3", "add 4", "apply sum",
                                         "answer 2", "answer 3", "answer 4"));
  // One whose answer was lost.
  EXPECT_THAT(Push(1, 5, 1), ElementsAre("answer 5"));
  EXPECT_EQ(aggregator_.step(), 1);
}

TEST_F(SynchronousAggregatorTest, AFencedWorkersPushIsRefused) {
  Push(0, 1, 1);
  EXPECT_THAT(Words(aggregator_.Fence(Worker(0, 7)).decisions),
              ElementsAre("refuse 1"));
  Push(1, 2, 1);
  EXPECT_THAT(Push(2, 3, 1), IsEmpty());
  EXPECT_EQ(aggregator_.step(), 0);
}

TEST_F(SynchronousAggregatorTest, AnOldCopyDoesNotTakeThePlaceOfANewPush) {
  for (const uint32_t rank : {0u, 1u, 2u}) Push(rank, rank, 1);
  Push(0, 10, 2);
  EXPECT_THAT(Push(0, 11, 1), ElementsAre("answer 11"));
  Push(1, 12, 2);
  EXPECT_EQ(Push(2, 13, 2)[0], "add 10");
}

TEST_F(SynchronousAggregatorTest, ARankCountsOnce) {
  Push(0, 1, 1);
  Push(1, 2, 1);
  ASSERT_TRUE(aggregator_.Admit(Worker(1, 99)).ok());
  EXPECT_THAT(Words(aggregator_.HandlePush(3, Worker(1, 99), Progress(1))),
              ElementsAre("refuse 3"));
  EXPECT_EQ(aggregator_.step(), 0);
}

TEST_F(SynchronousAggregatorTest, ASumHasTheLearningRateOfItsPushes) {
  for (const bool applies_apart : {false, true}) {
    aggregator_ = Make(applies_apart);
    std::vector<PushDecision> decisions;
    for (const uint32_t rank : {0u, 1u, 2u}) {
      decisions = aggregator_.HandlePush(rank, Worker(rank, 7 + rank),
                                         Progress(1), {}, 0.25);
    }
    if (applies_apart) decisions = *aggregator_.HandleApply(1);
    const auto sum = std::find_if(
        decisions.begin(), decisions.end(), [](const PushDecision& decision) {
          return decision.verdict == Verdict::kApplySum;
        });
    ASSERT_NE(sum, decisions.end());
    EXPECT_EQ(sum->learning_rate, 0.25);
    // The next step has none.
    for (const uint32_t rank : {0u, 1u, 2u}) Push(rank, 10 + rank, 2);
    if (!applies_apart) continue;
    EXPECT_EQ(aggregator_.HandleApply(2)->front().learning_rate, std::nullopt);
  }
}

TEST_F(SynchronousAggregatorTest, AStepHasOneLearningRate) {
  aggregator_.HandlePush(1, Worker(0, 7), Progress(1), {}, 0.25);
  for (const std::optional<double> other :
       {std::optional(0.5), std::optional<double>()}) {
    const auto refused =
        aggregator_.HandlePush(2, Worker(1, 8), Progress(1), {}, other);
    ASSERT_THAT(Words(refused), ElementsAre("refuse 2"));
    EXPECT_EQ(refused[0].error.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused[0].error.message()),
                HasSubstr("of worker-1; expected 0.25, with which worker-0"));
  }
  EXPECT_THAT(
      Words(aggregator_.HandlePush(3, Worker(1, 8), Progress(1), {}, 0.25)),
      IsEmpty());
}

TEST_F(SynchronousAggregatorTest, ASumIsNotMixedWithTheNext) {
  aggregator_ = Make(/*applies_apart=*/true);
  for (const uint32_t rank : {0u, 1u, 2u}) Push(rank, rank, 1);
  EXPECT_THAT(Push(0, 10, 2), ElementsAre("refuse 10"));
}

TEST_F(SynchronousAggregatorTest, OthersAreNoPartOfTheStep) {
  EXPECT_THAT(Push(3, 1, 1), ElementsAre("refuse 1"));
}

TEST_F(SynchronousAggregatorTest, ASumIsAppliedApartOnce) {
  aggregator_ = Make(/*applies_apart=*/true, /*step=*/5);
  EXPECT_EQ(aggregator_.HandleApply(6).status().code(),
            absl::StatusCode::kFailedPrecondition);
  Push(0, 1, 1);
  Push(1, 2, 1);
  const auto decisions = aggregator_.HandlePush(3, Worker(2, 9), Progress(1));
  EXPECT_THAT(Words(decisions),
              ElementsAre("add 1", "add 2", "add 3", "answer 1", "answer 2",
                          "answer 3"));
  EXPECT_EQ(decisions.back().step, 6);
  EXPECT_EQ(aggregator_.step(), 5);
  EXPECT_THAT(Words(*aggregator_.HandleApply(6)), ElementsAre("apply sum"));
  EXPECT_THAT(*aggregator_.HandleApply(6), IsEmpty());
  EXPECT_EQ(aggregator_.step(), 6);
  EXPECT_EQ(aggregator_.HandleApply(7).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace paceline
