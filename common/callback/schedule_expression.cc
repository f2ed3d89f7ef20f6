#include "common/callback/schedule_expression.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Python's, which round towards minus infinity.
double Modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
double FloorDivide(double a, double b) {
  return std::round((a - Modulo(a, b)) / b);
}

struct NamedFunction {
  absl::string_view name;
  size_t least_operands = 1;
  size_t most_operands = 1;
  double (*function)(double, double, double) = nullptr;
};

// More operands than two: each further one is joined with the result so far.
constexpr size_t kAny = ScheduleExpression::kMaxLength;

constexpr NamedFunction kFunctions[] = {
    {"abs", 1, 1, [](double a, double, double) { return std::abs(a); }},
    {"cos", 1, 1, [](double a, double, double) { return std::cos(a); }},
    {"exp", 1, 1, [](double a, double, double) { return std::exp(a); }},
    {"floor", 1, 1, [](double a, double, double) { return std::floor(a); }},
    {"log", 1, 1, [](double a, double, double) { return std::log(a); }},
    {"max", 2, kAny, [](double a, double b, double) { return b > a ? b : a; }},
    {"min", 2, kAny, [](double a, double b, double) { return b < a ? b : a; }},
    {"pow", 2, 2, [](double a, double b, double) { return std::pow(a, b); }},
    {"sqrt", 1, 1, [](double a, double, double) { return std::sqrt(a); }},
    {"where", 3, 3,
     [](double c, double a, double b) { return c != 0 ? a : b; }},
};

struct NamedVariable {
  absl::string_view name;
  double ScheduleVariables::*member = nullptr;
};

constexpr NamedVariable kVariables[] = {
    {"epoch", &ScheduleVariables::epoch},
    {"lr", &ScheduleVariables::lr},
    {"num_replicas", &ScheduleVariables::num_replicas},
    {"step", &ScheduleVariables::step},
};

struct BinaryOperator {
  absl::string_view sign;
  double (*function)(double, double, double) = nullptr;
};

constexpr BinaryOperator kSums[] = {
    {"+", [](double a, double b, double) { return a + b; }},
    {"-", [](double a, double b, double) { return a - b; }},
};
constexpr BinaryOperator kProducts[] = {
    {"//", [](double a, double b, double) { return FloorDivide(a, b); }},
    {"*", [](double a, double b, double) { return a * b; }},
    {"/", [](double a, double b, double) { return a / b; }},
    {"%", [](double a, double b, double) { return Modulo(a, b); }},
};
constexpr BinaryOperator kComparisons[] = {
    {"<=", [](double a, double b, double) { return a <= b ? 1.0 : 0.0; }},
    {">=", [](double a, double b, double) { return a >= b ? 1.0 : 0.0; }},
    {"==", [](double a, double b, double) { return a == b ? 1.0 : 0.0; }},
    {"!=", [](double a, double b, double) { return a != b ? 1.0 : 0.0; }},
    {"<", [](double a, double b, double) { return a < b ? 1.0 : 0.0; }},
    {">", [](double a, double b, double) { return a > b ? 1.0 : 0.0; }},
};

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// The length of the number at the start of `text`, such as 12, .5 or 1.e-3; 0:
// there is none.
size_t NumberLength(absl::string_view text) {
  size_t length = 0;
  size_t digits = 0;
  const auto take_digits = [&] {
    while (length < text.size() && absl::ascii_isdigit(text[length])) {
      ++length;
      ++digits;
    }
  };
  take_digits();
  if (length < text.size() && text[length] == '.') ++length;
  take_digits();
  if (digits == 0) return 0;
  size_t exponent = length;
  if (exponent < text.size() && absl::ascii_tolower(text[exponent]) == 'e') {
    ++exponent;
    if (exponent < text.size() &&
        (text[exponent] == '+' || text[exponent] == '-')) {
      ++exponent;
    }
    if (exponent < text.size() && absl::ascii_isdigit(text[exponent])) {
      length = exponent;
      take_digits();
    }
  }
  return length;
}

}  // namespace

// A recursive descent, a method for each rule of the grammar. Each returns the
// index of its node.
class ScheduleParser {
 public:
  explicit ScheduleParser(absl::string_view text) : text_(text), rest_(text) {}

  absl::StatusOr<ScheduleExpression> Parse() {
    RETURN_IF_ERROR(Conditional().status());
    if (!AtEnd()) return Unexpected("an operator or the end");
    return std::move(expression_);
  }

 private:
  using Index = absl::StatusOr<size_t>;
  using Rule = Index (ScheduleParser::*)();
  using Node = ScheduleExpression::Node;

  // A rule within itself.
  Index Nested(Rule rule) {
    if (depth_ == ScheduleExpression::kMaxDepth) {
      return Unexpected(
          absl::StrCat("no more than ", depth_, " levels of nesting"));
    }
    ++depth_;
    Index node = (this->*rule)();
    --depth_;
    return node;
  }

  Index Conditional() {
    ASSIGN_OR_RETURN(const size_t value, Disjunction());
    if (!TakeWord("if")) return value;
    ASSIGN_OR_RETURN(const size_t condition, Disjunction());
    if (!TakeWord("else")) return Unexpected("\"else\"");
    ASSIGN_OR_RETURN(const size_t otherwise,
                     Nested(&ScheduleParser::Conditional));
    return Where(condition, value, otherwise);
  }

  // Of two operands, `or` and `and` give one of them.
  Index Disjunction() {
    ASSIGN_OR_RETURN(size_t left, Conjunction());
    while (TakeWord("or")) {
      ASSIGN_OR_RETURN(const size_t right, Conjunction());
      left = Where(left, left, right);
    }
    return left;
  }

  Index Conjunction() {
    ASSIGN_OR_RETURN(size_t left, Negation());
    while (TakeWord("and")) {
      ASSIGN_OR_RETURN(const size_t right, Negation());
      left = Where(left, right, left);
    }
    return left;
  }

  Index Negation() {
    if (!TakeWord("not")) return Comparison();
    ASSIGN_OR_RETURN(const size_t operand, Nested(&ScheduleParser::Negation));
    return Where(operand, Number(0), Number(1));
  }

  Index Comparison() {
    ASSIGN_OR_RETURN(size_t left, Sum());
    const BinaryOperator* comparison = Take(kComparisons);
    if (comparison == nullptr) return left;
    size_t result = Number(1);
    for (; comparison != nullptr; comparison = Take(kComparisons)) {
      ASSIGN_OR_RETURN(const size_t right, Sum());
      result = Where(result, Add(comparison->function, {left, right}), result);
      left = right;
    }
    return result;
  }

  Index Sum() { return LeftToRight(kSums, &ScheduleParser::Product); }
  Index Product() { return LeftToRight(kProducts, &ScheduleParser::Factor); }

  Index Factor() {
    if (Take("+")) return Nested(&ScheduleParser::Factor);
    if (!Take("-")) return Power();
    ASSIGN_OR_RETURN(const size_t operand, Nested(&ScheduleParser::Factor));
    return Add([](double a, double, double) { return -a; }, {operand});
  }

  Index Power() {
    ASSIGN_OR_RETURN(const size_t base, Primary());
    if (!Take("**")) return base;
    ASSIGN_OR_RETURN(const size_t exponent, Nested(&ScheduleParser::Factor));
    return Add([](double a, double b, double) { return std::pow(a, b); },
               {base, exponent});
  }

  Index Primary() {
    if (Take("(")) {
      ASSIGN_OR_RETURN(const size_t inner,
                       Nested(&ScheduleParser::Conditional));
      if (!Take(")")) return Unexpected("\")\"");
      return inner;
    }
    SkipBlanks();
    if (const size_t length = NumberLength(rest_); length > 0) {
      double value = 0;
      if (!absl::SimpleAtod(rest_.substr(0, length), &value) ||
          !std::isfinite(value)) {
        return Unexpected("a number that float64 can hold");
      }
      rest_.remove_prefix(length);
      return Number(value);
    }
    const absl::string_view name = NextName();
    if (name.empty()) return Unexpected("a number, a name or \"(\"");
    for (const NamedVariable& variable : kVariables) {
      if (variable.name != name) continue;
      rest_.remove_prefix(name.size());
      return Add({.variable = variable.member});
    }
    for (const NamedFunction& function : kFunctions) {
      if (function.name == name) return Call(function);
    }
    if (name != "pi") return Unexpected(Names());
    rest_.remove_prefix(name.size());
    return Number(std::numbers::pi);
  }

  Index Call(const NamedFunction& function) {
    rest_.remove_prefix(function.name.size());
    if (!Take("(")) return Unexpected("\"(\"");
    std::vector<size_t> operands;
    do {
      ASSIGN_OR_RETURN(operands.emplace_back(),
                       Nested(&ScheduleParser::Conditional));
    } while (operands.size() < function.most_operands && Take(","));
    if (operands.size() < function.least_operands) return Unexpected("\",\"");
    if (!Take(")")) return Unexpected("\")\"");
    if (function.most_operands != kAny) return Add(function.function, operands);
    size_t result = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) {
      result = Add(function.function, {result, operands[i]});
    }
    return result;
  }

  template <size_t kCount>
  Index LeftToRight(const BinaryOperator (&operators)[kCount], Rule operand) {
    ASSIGN_OR_RETURN(size_t left, (this->*operand)());
    while (const BinaryOperator* taken = Take(operators)) {
      ASSIGN_OR_RETURN(const size_t right, (this->*operand)());
      left = Add(taken->function, {left, right});
    }
    return left;
  }

  // --- Nodes -----------------------------------------------------------------

  size_t Add(const Node& node) {
    expression_.nodes_.push_back(node);
    return expression_.nodes_.size() - 1;
  }
  size_t Add(ScheduleExpression::Function function,
             const std::vector<size_t>& operands) {
    Node node = {.function = function};
    std::copy(operands.begin(), operands.end(), node.operands.begin());
    return Add(node);
  }
  size_t Number(double value) { return Add({.number = value}); }
  size_t Where(size_t condition, size_t value, size_t otherwise) {
    return Add([](double c, double a, double b) { return c != 0 ? a : b; },
               {condition, value, otherwise});
  }

  // --- Text ------------------------------------------------------------------

  void SkipBlanks() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  bool AtEnd() {
    SkipBlanks();
    return rest_.empty();
  }
  absl::string_view NextName() const {
    if (rest_.empty() || absl::ascii_isdigit(rest_[0])) return "";
    const auto end =
        std::find_if_not(rest_.begin(), rest_.end(), IsNameCharacter);
    return rest_.substr(0, end - rest_.begin());
  }
  bool TakeWord(absl::string_view word) {
    SkipBlanks();
    return NextName() == word && absl::ConsumePrefix(&rest_, word);
  }
  bool Take(absl::string_view sign) {
    SkipBlanks();
    return absl::ConsumePrefix(&rest_, sign);
  }
  // Null: none of the operators comes next.
  template <size_t kCount>
  const BinaryOperator* Take(const BinaryOperator (&operators)[kCount]) {
    SkipBlanks();
    if (rest_.substr(0, 2) == "**") return nullptr;
    for (const BinaryOperator& each : operators) {
      if (Take(each.sign)) return &each;
    }
    return nullptr;
  }

  // --- Errors ----------------------------------------------------------------

  static std::string Names() {
    std::string names = "one of";
    for (const NamedVariable& each : kVariables) {
      absl::StrAppend(&names, " ", each.name, ",");
    }
    absl::StrAppend(&names, " pi");
    for (const NamedFunction& each : kFunctions) {
      absl::StrAppend(&names, ", ", each.name, "()");
    }
    return names;
  }
  absl::Status Unexpected(absl::string_view expected) {
    SkipBlanks();
    const absl::string_view name = NextName();
    const absl::string_view found =
        name.empty() ? rest_.substr(0, 1) : name.substr(0, 40);
    return absl::InvalidArgumentError(absl::StrCat(
        "position ", text_.size() - rest_.size() + 1, ": ",
        rest_.empty() ? std::string("the end")
                      : absl::StrCat("\"", absl::CHexEscape(found), "\""),
        "; expected ", expected));
  }

  const absl::string_view text_;
  absl::string_view rest_;
  int depth_ = 0;
  ScheduleExpression expression_;
};

absl::StatusOr<ScheduleExpression> ScheduleExpression::Parse(
    absl::string_view text) {
  if (text.size() > kMaxLength) {
    return absl::InvalidArgumentError(absl::StrCat(
        text.size(), " characters; expected at most ", kMaxLength));
  }
  return ScheduleParser(text).Parse();
}

double ScheduleExpression::Evaluate(const ScheduleVariables& variables) const {
  std::vector<double> values;
  values.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    if (node.function != nullptr) {
      const auto operand = [&](size_t i) { return values[node.operands[i]]; };
      values.push_back(node.function(operand(0), operand(1), operand(2)));
    } else if (node.variable != nullptr) {
      values.push_back(variables.*node.variable);
    } else {
      values.push_back(node.number);
    }
  }
  return values.back();
}

}  // namespace paceline
