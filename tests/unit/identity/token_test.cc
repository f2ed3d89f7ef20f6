// Files with tokens.
#include "common/identity/token.h"

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What a file with this content gives.
absl::StatusOr<std::string> Read(const std::string& content) {
  const std::string path = testing::TempDir() + "token_test.token";
  std::ofstream(path, std::ios::binary) << content;
  return ReadTokenFile(path);
}

TEST(TokenTest, AFileHasOneTokenOnALine) {
  const std::string token = DrawToken();
  EXPECT_NE(token, DrawToken());
  for (const std::string& content :
       {token, token + "\n", absl::StrCat("  ", token, "\r\n\n")}) {
    const absl::StatusOr<std::string> read = Read(content);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, token);
  }
}

TEST(TokenTest, AnythingElseIsNamedWithoutTheContent) {
  const std::string token = DrawToken();
  const std::string digits = token.substr(token.find('_') + 1);
  const std::string wrong[] = {
      "",
      digits,
      "paceline_",
      token.substr(0, token.size() - 1),
      token + "0",
      token.substr(0, token.size() - 1) + "g",
      "P" + token.substr(1),
      token + "\n" + token,
      token.substr(0, 30) + std::string(1, '\0') + token.substr(31),
      std::string(2000, 'x')};
  for (const std::string& content : wrong) {
    const absl::Status status = Read(content).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("token_test.token"),
                      Not(HasSubstr(digits.substr(0, 8)))));
  }
  EXPECT_THAT(std::string(ReadTokenFile("/none").status().message()),
              HasSubstr("/none"));
}

}  // namespace
}  // namespace paceline
