// Where a program is looked for.
#include "common/process/find_program.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

TEST(FindProgram, LooksInThePathOfTheEnvironment) {
  EXPECT_TRUE(FindProgram("sh", {"A=1", "PATH=/nowhere:/bin"}).ok());
  EXPECT_TRUE(FindProgram("sh", {}).ok());
  // Of several, that which getenv returns.
  EXPECT_TRUE(FindProgram("sh", {"PATH=/bin", "PATH=/nowhere"}).ok());
  EXPECT_FALSE(FindProgram("sh", {"PATH=/nowhere", "PATH=/bin"}).ok());
  const absl::Status none = FindProgram("sh", {"PATH=/nowhere:/proc/self"});
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(none.message(), "not found in PATH, /nowhere:/proc/self");
  EXPECT_THAT(std::string(FindProgram("no-such-program", {}).message()),
              HasSubstr("not found in PATH, /bin:/usr/bin"));
}

TEST(FindProgram, TakesAPathAsItIs) {
  EXPECT_TRUE(FindProgram("/bin/sh", {"PATH=/nowhere"}).ok());
  // Not there, a folder, and a file that is no program.
  for (const char* const path :
       {"/bin/no-such-program", "/bin/", "/proc/cpuinfo"}) {
    EXPECT_EQ(FindProgram(path, {}).code(), absl::StatusCode::kNotFound)
        << path;
  }
}

}  // namespace
}  // namespace paceline
