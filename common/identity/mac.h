// Message authentication codes, and random bytes, by libcrypto.
#ifndef PACELINE_COMMON_IDENTITY_MAC_H_
#define PACELINE_COMMON_IDENTITY_MAC_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// Bytes of a code.
inline constexpr size_t kMacSize = 32;

// HMAC-SHA256 (RFC 2104).
std::string HmacSha256(absl::string_view key, absl::string_view message);

// Compares in a time that does not depend on where two codes differ.
bool IsSameMac(absl::string_view a, absl::string_view b);

// Of the system's generator for secrets.
std::string RandomBytes(size_t size);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_MAC_H_
