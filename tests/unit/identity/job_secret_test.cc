#include "common/identity/job_secret.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/mac.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// RFC 4231, test case 2.
TEST(MacTest, IsHmacSha256) {
  EXPECT_EQ(absl::BytesToHexString(
                HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_TRUE(IsSameMac("abc", "abc"));
  EXPECT_FALSE(IsSameMac("abc", "abd"));
  EXPECT_FALSE(IsSameMac("abc", "ab"));
}

TEST(JobSecretTest, WhiteSpaceAroundItDoesNotCount) {
  const auto plain = JobSecret::FromText("0123456789abcdef");
  const auto spaced = JobSecret::FromText(" 0123456789abcdef\r\n");
  ASSERT_TRUE(plain.ok() && spaced.ok());
  EXPECT_EQ(plain->ProveCall("challenge", "header"),
            spaced->ProveCall("challenge", "header"));
}

TEST(JobSecretTest, AProofIsForOnePurpose) {
  const auto secret = JobSecret::FromText("0123456789abcdef");
  ASSERT_TRUE(secret.ok());
  EXPECT_NE(secret->ProveCall("dialer", "text"),
            secret->ProveRing("dialer", "text"));
  EXPECT_NE(secret->ProveRing("dialer", "text"),
            secret->ProveRing("acceptor", "text"));
}

TEST(JobSecretTest, DrawsAreDifferentAndCanBeRead) {
  const JobSecret first = JobSecret::Draw();
  EXPECT_NE(first.text(), JobSecret::Draw().text());
  EXPECT_TRUE(JobSecret::FromText(first.text()).ok());
}

TEST(JobSecretTest, ErrorsDoNotTellIt) {
  const auto tiny = JobSecret::FromText("tooshort");
  EXPECT_EQ(tiny.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(tiny.status().message()),
              AllOf(HasSubstr("8 characters; expected 16"),
                    Not(HasSubstr("tooshort"))));
  EXPECT_EQ(JobSecret::FromText(std::string(5000, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(JobSecretTest, ErrorsNameTheFile) {
  const auto missing = JobSecret::FromFile("/nonexistent/secret");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(missing.status().message()),
              HasSubstr("/nonexistent/secret"));
  const std::string path =
      absl::StrCat(::testing::TempDir(), "/paceline_secret_", getpid());
  std::ofstream(path) << "short\n";
  EXPECT_THAT(std::string(JobSecret::FromFile(path).status().message()),
              HasSubstr(path));
  std::ofstream(path) << "0123456789abcdef0123456789abcdef\n";
  EXPECT_TRUE(JobSecret::FromFile(path).ok());
  std::remove(path.c_str());
}

}  // namespace
}  // namespace paceline
