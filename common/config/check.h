// Ranges of values, for field tables.
#ifndef PACELINE_COMMON_CONFIG_CHECK_H_
#define PACELINE_COMMON_CONFIG_CHECK_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// A condition on a field's numbers. A default-constructed one accepts
// everything.
struct Check {
  // The condition as text, "at least 1"; follows "must be" in errors.
  std::string expectation;
  std::function<bool(double)> accepts;
};

Check AtLeast(double least);
Check AtMost(double most);
Check Above(double bound);
Check Between(double least, double most);
// In (bound, most].
Check AboveUpTo(double bound, double most);
// In [least, bound).
Check Within(double least, double bound);

// Applies a check to a number, or to each number in a list; accepts other
// values.
absl::Status Apply(const Check& check, const Value& value, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_CHECK_H_
