#include "common/base/names.h"

#include <gtest/gtest.h>

#include <string>

namespace paceline {
namespace {

TEST(NamesTest, SafeNamesHaveLettersDigitsAndAFewSigns) {
  for (const std::string name : {"fashion-mnist-17", "a.b_C", "1", "_"}) {
    EXPECT_TRUE(IsSafeName(name)) << name;
    EXPECT_TRUE(CheckSafeName("name", name).ok()) << name;
  }
  for (const std::string name :
       {"", ".", "..", ".a", "-a", "a/b", "a b", "ä", "a\n"}) {
    EXPECT_FALSE(IsSafeName(name)) << name;
  }
  EXPECT_FALSE(IsSafeName(std::string("a\0b", 3)));
}

TEST(NamesTest, SafeNamesHaveALargestSize) {
  EXPECT_TRUE(IsSafeName(std::string(253, 'a')));
  EXPECT_FALSE(IsSafeName(std::string(254, 'a')));
  EXPECT_TRUE(IsSafeName("abc", 3));
  EXPECT_FALSE(IsSafeName("abcd", 3));
}

TEST(NamesTest, VisibleAsciiHasNoSpacesAndControlCharacters) {
  for (const std::string text : {"ann@lab", "-1/2", "a"}) {
    EXPECT_TRUE(IsVisibleAscii(text)) << text;
    EXPECT_TRUE(CheckVisibleAscii("user", text).ok()) << text;
  }
  for (const std::string text : {"", "a b", "a\n", "ä"}) {
    EXPECT_FALSE(IsVisibleAscii(text)) << text;
  }
  EXPECT_TRUE(IsVisibleAscii(std::string(253, 'a')));
  EXPECT_FALSE(IsVisibleAscii(std::string(254, 'a')));
}

TEST(NamesTest, ErrorsNameFieldValueAndRule) {
  EXPECT_EQ(CheckSafeName("job", "../x", 200),
            absl::InvalidArgumentError(
                "job: \"../x\"; expected 1 to 200 letters, digits, \".\", "
                "\"_\" and \"-\", of which the first is no \".\" and no "
                "\"-\""));
  EXPECT_EQ(CheckVisibleAscii("user", "a b"),
            absl::InvalidArgumentError("user: \"a b\"; expected 1 to 253 "
                                       "letters, digits and signs of ASCII"));
}

}  // namespace
}  // namespace paceline
