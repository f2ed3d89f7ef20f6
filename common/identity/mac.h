// Message authentication codes and random bytes, by libcrypto.
#ifndef PACELINE_COMMON_IDENTITY_MAC_H_
#define PACELINE_COMMON_IDENTITY_MAC_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// Size of a code in bytes.
inline constexpr size_t kMacSize = 32;

// HMAC-SHA256 (RFC 2104).
std::string HmacSha256(absl::string_view key, absl::string_view message);

// Compares in constant time, so that timing reveals nothing.
bool IsSameMac(absl::string_view a, absl::string_view b);

// From the system's cryptographic random generator.
std::string RandomBytes(size_t size);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_MAC_H_
