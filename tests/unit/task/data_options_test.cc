#include "common/task/data_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace paceline {
namespace {

using ::testing::Contains;

// "": it was taken.
std::string Parse(const std::string& size, DataOptions& options) {
  CLI::App app;
  options.AddTo(app);
  try {
    std::vector<std::string> arguments = {"--data-cache-size=" + size};
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(DataOptionsTest, TheCachesSizeIsWrittenAsOtherSizesAre) {
  DataOptions options;
  EXPECT_EQ(Parse("1.5GiB", options), "");
  EXPECT_EQ(options.cache_bytes, uint64_t{3} << 29);
  EXPECT_THAT(options.Arguments(), Contains("--data-cache-size=1610612736"));
  EXPECT_EQ(Parse("512MB", options), "");
  EXPECT_EQ(options.cache_bytes, 512'000'000);
  EXPECT_EQ(Parse("1610612736", options), "");
  EXPECT_EQ(options.cache_bytes, uint64_t{3} << 29);
  EXPECT_EQ(Parse("8 gibs", options),
            "--data-cache-size: \"8 gibs\"; expected a size such as 512MiB or "
            "4GiB");
}

}  // namespace
}  // namespace paceline
