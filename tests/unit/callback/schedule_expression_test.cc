#include "common/callback/schedule_expression.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

double ValueOf(const std::string& text) {
  const auto expression = ScheduleExpression::Parse(text);
  EXPECT_TRUE(expression.ok()) << expression.status();
  return expression.ok() ? expression->Evaluate({}) : NAN;
}

// tests/interop/rate_callbacks_expected.py has Python evaluate them.
TEST(ScheduleExpressionTest, GivesWhatPythonGives) {
  const auto text = ReadFile(PACELINE_SOURCE_DIR
                             "/tests/interop/rate_callbacks_expected.json",
                             1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json expected = json::parse(*text);
  ASSERT_GE(expected["expressions"].size(), 30u);
  for (const json& each : expected["expressions"]) {
    SCOPED_TRACE(each.dump());
    const auto expression =
        ScheduleExpression::Parse(each["text"].get<std::string>());
    ASSERT_TRUE(expression.ok()) << expression.status();
    const json& variables = each["variables"];
    EXPECT_DOUBLE_EQ(
        expression->Evaluate({.epoch = variables["epoch"],
                              .step = variables["step"],
                              .lr = variables["lr"],
                              .num_replicas = variables["num_replicas"]}),
        each["value"].get<double>());
  }
}

TEST(ScheduleExpressionTest, TakesAnyBlanksAndNumbers) {
  EXPECT_EQ(ValueOf(" \t1.e+1\n+.5E0+2 "), 12.5);
  EXPECT_EQ(ValueOf("max(1,2,\n 3)"), 3);
  EXPECT_EQ(ValueOf("+ + - -4"), 4);
}

TEST(ScheduleExpressionTest, WhatHasNoValueIsNoNumber) {
  EXPECT_EQ(ValueOf("1 / 0"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(ValueOf("log(-1)")));
  EXPECT_TRUE(std::isnan(ValueOf("1 % 0")));
  EXPECT_TRUE(std::isnan(ValueOf("1 // 0")));
  EXPECT_EQ(ValueOf("1 if 1 else 1 / 0"), 1);
}

TEST(ScheduleExpressionTest, ErrorsNameThePosition) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "position 1: the end; expected a number, a name or \"(\""},
      {"lr *", "position 5: the end; expected a number"},
      {"lr lr", "position 4: \"lr\"; expected an operator or the end"},
      {"(lr", "position 4: the end; expected \")\""},
      {"lr if epoch", "position 12: the end; expected \"else\""},
      {"rate", "position 1: \"rate\"; expected one of epoch, lr"},
      {"exp", "position 4: the end; expected \"(\""},
      {"exp()", "position 5: \")\"; expected a number"},
      {"exp(1, 2)", "position 6: \",\"; expected \")\""},
      {"max(1)", "position 6: \")\"; expected \",\""},
      {"where(1, 2)", "position 11: \")\"; expected \",\""},
      {"1e999", "position 1: \"1\"; expected a number that float64 can hold"},
      {"2 ** ** 3", "position 6: \"*\"; expected a number"},
      {"lr = 3", "position 4: \"=\"; expected an operator or the end"},
      {"__import__('os')", "position 1: \"__import__\"; expected one of"},
      {"lr.real", "position 3: \".\"; expected an operator or the end"},
      {"\xff", "position 1: \"\\xff\"; expected a number"},
      {std::string("1\0", 2), "position 2: \"\\x00\"; expected an operator"},
  };
  for (const auto& [text, error] : cases) {
    SCOPED_TRACE(text);
    const auto expression = ScheduleExpression::Parse(text);
    EXPECT_EQ(expression.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(expression.status().message()), StartsWith(error));
  }
}

TEST(ScheduleExpressionTest, DepthAndLengthAreBounded) {
  EXPECT_EQ(ValueOf(Repeated("(", 50) + "7" + Repeated(")", 50)), 7);
  EXPECT_EQ(ValueOf(Repeated("2 ** ", 50) + "0"), HUGE_VAL);
  for (const std::string& nested :
       {Repeated("(", 400), Repeated("-", 800), Repeated("not ", 200),
        Repeated("2**", 300), Repeated("1 if 1 else ", 80),
        Repeated("exp(", 200)}) {
    SCOPED_TRACE(nested);
    EXPECT_THAT(
        std::string(ScheduleExpression::Parse(nested).status().message()),
        HasSubstr("expected no more than 50 levels of nesting"));
  }
  EXPECT_EQ(ValueOf("1" + Repeated("+1", 499)), 500);
  EXPECT_THAT(
      std::string(
          ScheduleExpression::Parse(Repeated("1", 1001)).status().message()),
      HasSubstr("1001 characters; expected at most 1000"));
}

}  // namespace
}  // namespace paceline
