#include "common/config/check.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Whole numbers with all digits; StrCat alone writes 1048576 as 1.04858e+06.
std::string Text(double number) {
  if (std::abs(number) > 1e15) return absl::StrCat(number);
  const auto whole = static_cast<int64_t>(number);
  return static_cast<double>(whole) == number ? absl::StrCat(whole)
                                              : absl::StrCat(number);
}

}  // namespace

Check AtLeast(double least) {
  return {absl::StrCat("at least ", Text(least)),
          [=](double number) { return number >= least; }};
}

Check AtMost(double most) {
  return {absl::StrCat("at most ", Text(most)),
          [=](double number) { return number <= most; }};
}

Check Above(double bound) {
  return {absl::StrCat("above ", Text(bound)),
          [=](double number) { return number > bound; }};
}

Check Between(double least, double most) {
  return {absl::StrCat("from ", Text(least), " to ", Text(most)),
          [=](double number) { return number >= least && number <= most; }};
}

Check AboveUpTo(double bound, double most) {
  return {absl::StrCat("above ", Text(bound), " and at most ", Text(most)),
          [=](double number) { return number > bound && number <= most; }};
}

Check Within(double least, double bound) {
  return {absl::StrCat("at least ", Text(least), " and below ", Text(bound)),
          [=](double number) { return number >= least && number < bound; }};
}

absl::Status Apply(const Check& check, const Value& value, const Path& path) {
  if (!check.accepts) return absl::OkStatus();
  if (value.is_list()) {
    for (size_t i = 0; i < value.as_list().size(); ++i) {
      RETURN_IF_ERROR(Apply(check, value.as_list()[i], path.Index(i)));
    }
  }
  if (value.is_number() && !check.accepts(value.as_double())) {
    return ConfigError(path, absl::StrCat("must be ", check.expectation,
                                          ", got ", Excerpt(value)));
  }
  return absl::OkStatus();
}

}  // namespace paceline
