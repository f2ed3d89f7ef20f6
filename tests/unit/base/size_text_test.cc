#include "common/base/size_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "common/base/option_text.h"

namespace paceline {
namespace {

TEST(SizeTextTest, HasTheLargestUnitAndFourDigits) {
  const std::pair<uint64_t, std::string> cases[] = {
      {0, "0 B"},
      {512, "512 B"},
      {1023, "1023 B"},
      {1024, "1 KiB"},
      {1536, "1.5 KiB"},
      {1'048'166, "1 MiB"},
      {(1 << 20) - 1, "1 MiB"},
      {1000 << 20, "1000 MiB"},
      {uint64_t{64} << 30, "64 GiB"},
      {67'384'000'000, "62.76 GiB"},
      {uint64_t{800'000} << 40, "781.2 PiB"},
      {UINT64_MAX, "16 EiB"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(SizeText(bytes), text) << bytes;
  }
}

TEST(SizeTextTest, OptionsTakeIt) {
  for (const uint64_t bytes :
       {uint64_t{12}, uint64_t{1536}, uint64_t{5} << 30, uint64_t{3} << 39}) {
    EXPECT_EQ(*ParseSize("--size", SizeText(bytes)), bytes);
  }
}

}  // namespace
}  // namespace paceline
