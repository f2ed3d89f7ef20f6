#include "common/progress/bar_line.h"

#include <gtest/gtest.h>

#include <sstream>

namespace paceline {
namespace {

TEST(BarLineTest, DrawsOverTheLastBar) {
  std::ostringstream out;
  BarLine line(out);
  EXPECT_FALSE(line.is_drawn());
  line.Draw({"abcd", 4});
  line.Draw({"ef", 2});
  EXPECT_TRUE(line.is_drawn());
  EXPECT_EQ(out.str(), "\rabcd\b\b\b\b\ref  ");
  line.End();
  line.Draw({"g", 1});
  EXPECT_EQ(out.str(), "\rabcd\b\b\b\b\ref  \n\rg");
}

TEST(BarLineTest, ErasesTheBarOnly) {
  std::ostringstream out;
  BarLine line(out);
  line.Erase();
  EXPECT_EQ(out.str(), "");
  line.Draw({"ab", 2});
  line.Erase();
  line.Erase();
  EXPECT_FALSE(line.is_drawn());
  EXPECT_EQ(out.str(), "\rab\b\b\r  \r");
}

}  // namespace
}  // namespace paceline
