// What a session does with messages of members and shards that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/limits.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class ImpossibleMessagesTest : public SessionTest {
 protected:
  // Worker 0 takes a lease and falls silent, so the leader orders its fence.
  struct LostWorker {
    v1::Lease lease;
    FenceWorker fence;
  };
  std::optional<LostWorker> LoseWorker() {
    Start();
    const auto lease = Acquire(kWorker0);
    Pass(absl::Seconds(9), {kWorker0});
    const auto fence = Take<FenceWorker>();
    if (!lease || !fence) return std::nullopt;
    return LostWorker{*lease, *fence};
  }
};

TEST_F(ImpossibleMessagesTest, ImpossibleReportsAreRefusedAndTheJobGoesOn) {
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  const v1::LeaseReport sound = ReportOf(*lease, 50);
  const std::vector<std::function<void(v1::LeaseReport&)>> changes = {
      // States beyond those of the loss and the metrics, though no examples.
      [](auto& r) {
        r.set_examples(0);
        for (int i = 0; i < 100'000; ++i) r.mutable_sums()->add_states(1);
      },
      [](auto& r) { r.mutable_sums()->mutable_states()->RemoveLast(); },
      [](auto& r) { r.clear_sums(); },
      [](auto& r) { r.mutable_sums()->set_states(1, -1); },
      [](auto& r) { r.mutable_sums()->set_states(3, INFINITY); },
      [](auto& r) { r.set_steps(uint64_t{1} << 63); },
      [](auto& r) { r.set_steps(65); },
      [](auto& r) { r.set_examples(uint64_t{1} << 63); },
      [](auto& r) { r.set_examples(~uint64_t{0}); },
      [](auto& r) { r.set_first_nonfinite_step(6); },
      [](auto& r) { r.set_skipped_examples(51); },
      [](auto& r) { r.set_skipped_examples(~uint64_t{0}); }};
  for (const auto& change : changes) {
    v1::LeaseReport report = sound;
    change(report);
    const absl::Status refused = Beat(kWorker0, {report}).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("worker-0"));
    EXPECT_EQ(session_->Progress().steps_done, 0);
    EXPECT_FALSE(session_->ended());
  }
  const std::vector<v1::LeaseReport> many(limits::kMaxLeaseReports + 1, sound);
  EXPECT_EQ(Beat(kWorker0, many).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Beat(kWorker0, {sound}).ok());
  EXPECT_EQ(session_->Progress().steps_done, 5);
}

TEST_F(ImpossibleMessagesTest, LargeStatesComeAllOrNoneButTheLoss) {
  constexpr size_t kLarge = limits::kMaxReportedState;
  options_.metrics = {{"loss"},
                      {"large", kLarge, [](absl::Span<const double> state) {
                         return state.back();
                       }}};
  Start();
  auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  const auto beat = [&](int64_t examples, size_t numbers) {
    v1::LeaseReport report = ReportOf(*lease, examples);
    report.mutable_sums()->mutable_states()->Resize(static_cast<int>(numbers),
                                                    -3);
    return Beat(kWorker0, {report}).status();
  };
  for (const size_t numbers :
       {size_t{0}, size_t{1}, size_t{4}, kLarge, kLarge + 1, kLarge + 3}) {
    EXPECT_EQ(beat(50, numbers).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(beat(50, 2).ok());
  EXPECT_THAT(session_->Progress().logs, ElementsAre(Pair("loss", 2)));
  EXPECT_EQ(session_->Progress().steps_done, 5);
  int leases = 0;
  for (; lease; lease = Acquire(kWorker0)) {
    const auto size = static_cast<int64_t>(lease->end() - lease->begin());
    ASSERT_TRUE(beat(size, kLarge + 2).ok());
    ++leases;
  }
  ASSERT_EQ(session_->history().size(), 1u);
  EXPECT_THAT(session_->history()[0].logs,
              ElementsAre(Pair("loss", 2), Pair("large", -3 * leases)));
}

TEST_F(ImpossibleMessagesTest, AnImpossibleRecordOfAShardEndsTheJobByName) {
  const auto lost = LoseWorker();
  ASSERT_TRUE(lost);
  v1::LeaseReport report = ReportOf(lost->lease, 0);
  for (int i = 0; i < 100'000; ++i) report.mutable_sums()->add_states(1);
  session_->Fenced(lost->fence.worker, ShardKnows(report), now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ended->task, kPs0);
  EXPECT_THAT(Message(ended),
              AllOf(HasSubstr("worker-0 at host-a:1"),
                    HasSubstr("the record of ps-0: sums.states: 100004")));
}

TEST_F(ImpossibleMessagesTest, SumsOfAPushAfterTheLastAreImpossible) {
  const auto lost = LoseWorker();
  ASSERT_TRUE(lost);
  std::vector<v1::FenceResponse> answers =
      ShardKnows(ReportOf(lost->lease, 10));
  *answers[0].mutable_summed() = answers[0].progress();
  answers[0].mutable_summed()->set_sequence(2);
  session_->Fenced(lost->fence.worker, answers, now_);
  EXPECT_THAT(Message(Take<Ended>()),
              HasSubstr("the record of ps-0: summed.sequence: 2; expected at "
                        "most that of the last push, 1"));
}

TEST_F(ImpossibleMessagesTest, SumsWithoutALastPushAreImpossible) {
  const auto lost = LoseWorker();
  ASSERT_TRUE(lost);
  std::vector<v1::FenceResponse> answers =
      ShardKnows(ReportOf(lost->lease, 10));
  answers[0].mutable_summed()->Swap(answers[0].mutable_progress());
  answers[0].clear_progress();
  session_->Fenced(lost->fence.worker, answers, now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ended->task, kPs0);
  EXPECT_THAT(Message(ended),
              HasSubstr("the record of ps-0: summed: of push 1, without "
                        "progress; expected progress, of the last push"));
}

TEST_F(ImpossibleMessagesTest, WordsOfAMemberAreEscapedAndShort) {
  Start();
  ASSERT_TRUE(Acquire(kWorker1));
  ASSERT_TRUE(
      Beat(kWorker1, {}, "\r\x1b[2K" + std::string(1'000'000, 'w')).ok());
  ASSERT_TRUE(Leave(kPs0, absl::InternalError("\x07"
                                              "bang\n" +
                                              std::string(1'000'000, 'e')))
                  .ok());
  const std::string message = Message(Take<Ended>());
  EXPECT_THAT(message, HasSubstr("ps-0 at host-p:1: \\x07bang\\neee"));
  EXPECT_LT(message.size(), 2400);
}

TEST_F(ImpossibleMessagesTest, ACodeThatIsNoneIsUnknown) {
  Start();
  v1::LeaveRequest request;
  *request.mutable_member() = MemberOf(kPs0);
  request.mutable_error()->set_code(-7);
  request.mutable_error()->set_message("odd");
  ASSERT_TRUE(session_->Leave(request, now_).ok());
  EXPECT_EQ(Take<Ended>()->status.code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace paceline
