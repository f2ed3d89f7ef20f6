#include "common/base/option_text.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(OptionText, ReadsSizes) {
  for (const auto& [text, bytes] :
       {std::pair<std::string, uint64_t>("4GiB", uint64_t{4} << 30),
        {"1.5GB", 1'500'000'000},
        {"512 MiB", 512 << 20},
        {"100", 100},
        {"7B", 7}}) {
    const auto size = ParseSize("--worker-memory", text);
    ASSERT_TRUE(size.ok()) << size.status();
    EXPECT_EQ(*size, bytes) << text;
  }
  for (const char* text : {"", "GiB", "4 gibs", "-1", "1e3", "nan", "inf",
                           "1.2.3", "99999999999TiB"}) {
    EXPECT_EQ(ParseSize("--worker-memory", text).status().message(),
              std::string("--worker-memory: \"") + text +
                  "\"; expected a size such as 512MiB or 4GiB");
  }
}

TEST(OptionText, ReadsLabels) {
  const auto label = ParseLabel("--label", "disk=a=b");
  ASSERT_TRUE(label.ok()) << label.status();
  EXPECT_EQ(*label, std::pair(std::string("disk"), std::string("a=b")));
  for (const std::string text : {"ssd", "=x", "x=", "", "a b=c"}) {
    EXPECT_EQ(ParseLabel("--label", text).status().message(),
              "--label: \"" + text + "\"; expected KEY=VALUE without spaces");
  }
  EXPECT_FALSE(ParseLabel("--label", std::string(254, 'a') + "=b").ok());
}

}  // namespace
}  // namespace paceline
