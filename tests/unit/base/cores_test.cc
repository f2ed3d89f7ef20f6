#include "common/base/cores.h"

#include <sched.h>

#include <thread>

#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(CoresTest, AreThoseOfTheAffinity) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  EXPECT_LE(UsableCores(), CPU_COUNT(&all));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  std::thread([first] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(UsableCores(), 1);
  }).join();
}

TEST(CoresTest, AQuotaIsRoundedUp) {
  EXPECT_EQ(CoresOfQuota("200000 100000\n"), 2);
  EXPECT_EQ(CoresOfQuota("250000 100000\n"), 3);
  EXPECT_EQ(CoresOfQuota("10000 100000\n"), 1);
}

TEST(CoresTest, NoQuotaIsNoLimit) {
  for (const char* text : {"max 100000\n", "", "0 100000", "100000", "x y"}) {
    EXPECT_EQ(CoresOfQuota(text), 0) << text;
  }
}

}  // namespace
}  // namespace paceline
