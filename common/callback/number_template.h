// Templates of Python's str.format whose values are numbers, such as
// "{epoch:02d}-{val_loss:.2f}.keras".
#ifndef PACELINE_COMMON_CALLBACK_NUMBER_TEMPLATE_H_
#define PACELINE_COMMON_CALLBACK_NUMBER_TEMPLATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// An int or a float of Python.
using TemplateNumber = std::variant<int64_t, double>;

// The value of a name; nullopt: there is none.
using TemplateNumbers =
    std::function<std::optional<TemplateNumber>(absl::string_view name)>;

// The text that Python's str.format gives. A format has the parts
// [[fill]align][sign][0][width][.precision][type]; types are d for ints, and e,
// E, f, F, g, G and % for all numbers. InvalidArgument names the replacement
// field if its format is not one of these or does not fit its value, and says
// so if the name has no value.
absl::StatusOr<std::string> FormatTemplate(absl::string_view text,
                                           const TemplateNumbers& numbers);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_NUMBER_TEMPLATE_H_
