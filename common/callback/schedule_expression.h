// A learning rate as a text that a user writes, such as
// "lr if epoch < 3 else lr * exp(-0.1)".
//
// The syntax is that of Python's expressions of numbers, with its precedence:
//
//   a if c else b    or    and    not    < <= > >= == != (also a < b < c)
//   + -    * / // %    + - of one number    **    ( )
//
// with the variables of ScheduleVariables, the constant pi, and the functions
// abs, cos, exp, floor, log, max, min, pow, sqrt and where(c, a, b). All values
// are float64; a comparison is 1 or 0. What Python refuses to compute, such as
// 1 / 0, is infinite or NaN.
//
//   conditional  disjunction ["if" disjunction "else" conditional]
//   disjunction  conjunction {"or" conjunction}
//   conjunction  negation {"and" negation}
//   negation     "not" negation | comparison
//   comparison   sum {("<" | "<=" | ">" | ">=" | "==" | "!=") sum}
//   sum          product {("+" | "-") product}
//   product      factor {("*" | "/" | "//" | "%") factor}
//   factor       ("+" | "-") factor | power
//   power        primary ["**" factor]
//   primary      number | name | name "(" conditional {"," conditional} ")"
//                | "(" conditional ")"
#ifndef PACELINE_COMMON_CALLBACK_SCHEDULE_EXPRESSION_H_
#define PACELINE_COMMON_CALLBACK_SCHEDULE_EXPRESSION_H_

#include <array>
#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// What an expression may name.
struct ScheduleVariables {
  // The number of the epoch that begins, from 0.
  double epoch = 0;
  // Steps of the job before it.
  double step = 0;
  // The learning rate so far.
  double lr = 0;
  double num_replicas = 0;
};

// Immutable. Memory and time are in proportion to the length of the text.
class ScheduleExpression {
 public:
  static constexpr size_t kMaxLength = 1000;
  // Of parentheses, calls, signs and other things in one another.
  static constexpr int kMaxDepth = 50;

  // InvalidArgument, with the position (from 1), what is there and what is
  // expected, if the text is not an expression, is longer than kMaxLength, or
  // is nested deeper than kMaxDepth.
  static absl::StatusOr<ScheduleExpression> Parse(absl::string_view text);

  double Evaluate(const ScheduleVariables& variables) const;

 private:
  friend class ScheduleParser;

  static constexpr size_t kMaxOperands = 3;
  using Function = double (*)(double, double, double);
  struct Node {
    // Null: the node is a number or a variable.
    Function function = nullptr;
    // Indices of earlier nodes.
    std::array<size_t, kMaxOperands> operands = {};
    // Null: the node is the number.
    double ScheduleVariables::*variable = nullptr;
    double number = 0;
  };

  // The last one is the result.
  std::vector<Node> nodes_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_SCHEDULE_EXPRESSION_H_
