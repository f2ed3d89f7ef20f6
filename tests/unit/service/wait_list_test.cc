#include "coordinator/service/wait_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Time Second(int second) { return absl::FromUnixSeconds(second); }

TEST(WaitListTest, FindsByNewsOrByDeadline) {
  WaitList<int> list;
  list.Add("job", Second(3), 1);
  list.Add("daemon", Second(2), 2);
  list.Add("job", Second(1), 3);
  list.Add("job", Second(3), 4);

  EXPECT_THAT(list.TakeDue(Second(0)), IsEmpty());
  EXPECT_THAT(list.TakeNews("logs"), IsEmpty());
  EXPECT_THAT(list.TakeDue(Second(2)), ElementsAre(3, 2));
  EXPECT_THAT(list.TakeNews("daemon"), IsEmpty());
  EXPECT_THAT(list.TakeNews("job"), ElementsAre(1, 4));
  EXPECT_THAT(list.TakeDue(absl::InfiniteFuture()), IsEmpty());
}

TEST(WaitListTest, TakesWhatWasAddedAgain) {
  WaitList<int> list;
  list.Add("job", Second(1), 1);
  for (const int waiter : list.TakeNews("job")) {
    list.Add("job", Second(1), waiter);
  }
  EXPECT_THAT(list.TakeDue(absl::InfiniteFuture()), ElementsAre(1));
}

}  // namespace
}  // namespace paceline
