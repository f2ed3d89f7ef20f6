#include "common/base/printed_text.h"

#include <gtest/gtest.h>

#include <string>

namespace paceline {
namespace {

TEST(PrintedText, KeepsLinesAndTabsAlone) {
  EXPECT_EQ(PrintedText("a\tb\n\nä\n"), "a\tb\n\nä\n");
  EXPECT_EQ(PrintedText("\x1b[2J\rx\x07\xff\u202e"),
            "\\x1b[2J\\x0dx\\x07\\xff\\u202e");
  EXPECT_EQ(PrintedText(""), "");
}

TEST(PrintedText, CutsNothing) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(PrintedText(text), text);
}

}  // namespace
}  // namespace paceline
