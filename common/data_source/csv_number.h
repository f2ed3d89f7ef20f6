// Numbers in text.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_NUMBER_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_NUMBER_H_

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"

namespace paceline {

// The number that the whole text is: decimal, with or without sign, point and
// exponent, and with spaces and tabs around it. Correctly rounded. nullopt:
// it is none, such as "nan", or is beyond the range of float32.
std::optional<double> ParseCsvNumber(absl::string_view text);

// Reads a number of the form that most have, with up to 15 digits, from the
// front of `text`. Returns its size; 0 if it has another form.
size_t ReadShortNumber(absl::string_view text, double& number);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_NUMBER_H_
