// The text of the tokens by which a service knows people.
#ifndef PACELINE_COMMON_IDENTITY_TOKEN_H_
#define PACELINE_COMMON_IDENTITY_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"

namespace paceline {

// kTokenPrefix (common/identity/person.h) and 256 random bits, as 64
// hexadecimal digits.
std::string DrawToken();

// Reads a file with one token on a line. InvalidArgument names the file,
// without its content.
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_TOKEN_H_
