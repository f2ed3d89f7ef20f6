#include "worker/evaluation/prediction_bar.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(PredictionBarTest, ShowsTheBatchesOfEachTwentiethOfASecond) {
  std::ostringstream out;
  absl::Time now = absl::UnixEpoch();
  {
    PredictionBar bar(&out, [&now] { return now; });
    bar.Update(1, 4);
    now += absl::Milliseconds(10);
    bar.Update(2, 4);
    now += absl::Milliseconds(50);
    bar.Update(3, 4);
    EXPECT_THAT(out.str(), AllOf(HasSubstr("1/4"), Not(HasSubstr("2/4")),
                                 HasSubstr("3/4"), Not(HasSubstr("\n"))));
    now += absl::Milliseconds(1);
    bar.Update(4, 4);
  }
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("4/4"), HasSubstr("20ms/step"), EndsWith("\n")));
}

TEST(PredictionBarTest, LeavesALineOfItsOwnToErrors) {
  std::ostringstream out;
  { const PredictionBar unused(&out); }
  EXPECT_EQ(out.str(), "");
  {
    PredictionBar bar(&out);
    bar.Update(1, 4);
  }
  EXPECT_THAT(out.str(), EndsWith("\n"));
  PredictionBar(nullptr).Update(1, 4);
}

}  // namespace
}  // namespace paceline
