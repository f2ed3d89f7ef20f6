// Names that peers and people give.
#ifndef PACELINE_COMMON_BASE_NAMES_H_
#define PACELINE_COMMON_BASE_NAMES_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// That of a DNS name: daemons are called after their hosts.
inline constexpr size_t kMaxNameBytes = 253;

// Of jobs and daemons, which folders and files are called after. Whether `name`
// is 1 to `max_bytes` letters, digits, ".", "_" and "-", of which the first is
// no "." and no "-": it is one component of a path, is not hidden, and looks
// like no option of a command.
bool IsSafeName(absl::string_view name, size_t max_bytes = kMaxNameBytes);

// InvalidArgument, with the field, the name and the rule, unless it is one.
absl::Status CheckSafeName(absl::string_view field, absl::string_view name,
                           size_t max_bytes = kMaxNameBytes);

// Of users, labels and versions, which people read. Whether `text` is 1 to
// kMaxNameBytes visible characters of ASCII.
bool IsVisibleAscii(absl::string_view text);

// InvalidArgument, with the field, the text and the rule, unless it is one.
absl::Status CheckVisibleAscii(absl::string_view field, absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_NAMES_H_
