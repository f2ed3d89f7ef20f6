#include "coordinator/cli/service/units.h"

#include <string>
#include <utility>

#include "common/base/option_text.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(UnitsTest, ReadsDurations) {
  for (const auto& [text, seconds] :
       {std::pair<std::string, int64_t>("90s", 90),
        {"1h5m", 3900},
        {"2d", 172'800},
        {"1d12h", 129'600},
        {"1.5h", 5400}}) {
    const auto duration = ParseDuration("--timeout", text);
    ASSERT_TRUE(duration.ok()) << duration.status();
    EXPECT_EQ(*duration, absl::Seconds(seconds)) << text;
  }
  for (const char* text : {"", "5", "0s", "-1s", "1x", "d", "-1d2h", "1d-30h",
                           "inf", "1dd", "99999999999999d"}) {
    const auto duration = ParseDuration("--timeout", text);
    EXPECT_EQ(duration.status().message(),
              std::string("--timeout: \"") + text +
                  "\"; expected a duration above 0, such as 90s, 1h30m or 2d");
  }
}

TEST(UnitsTest, ShowsTwoUnitsOfADuration) {
  for (const auto& [seconds, text] : {std::pair<int64_t, std::string>(0, "0s"),
                                      {3, "3s"},
                                      {120, "2m"},
                                      {125, "2m5s"},
                                      {3900, "1h5m"},
                                      {3605, "1h"},
                                      {360'000, "4d4h"},
                                      {-5, "0s"}}) {
    EXPECT_EQ(ShortDuration(absl::Seconds(seconds)), text);
  }
}

TEST(UnitsTest, ReadsCores) {
  EXPECT_EQ(*ParseCores("--worker-cores", "0.5"), 500);
  EXPECT_EQ(*ParseCores("--worker-cores", "16"), 16'000);
  for (const char* text : {"", "-1", "nan", "inf", "many"}) {
    EXPECT_EQ(ParseCores("--worker-cores", text).status().message(),
              std::string("--worker-cores: \"") + text +
                  "\"; expected a number of cores, such as 4 or 0.5");
  }
}

}  // namespace
}  // namespace paceline
