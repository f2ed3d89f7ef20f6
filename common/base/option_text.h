// Sizes, durations, cores and labels as people write them in options.
#ifndef PACELINE_COMMON_BASE_OPTION_TEXT_H_
#define PACELINE_COMMON_BASE_OPTION_TEXT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace paceline {

// Bytes: "4GiB", "1.5GB", "512 MiB", "1048576". InvalidArgument names the
// `option`, the text and what is expected; the same below.
absl::StatusOr<uint64_t> ParseSize(absl::string_view option,
                                   absl::string_view text);

// "90s", "1h30m", "2d": above 0.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view option,
                                             absl::string_view text);

// Thousandths of a core: 500 for "0.5".
absl::StatusOr<uint64_t> ParseCores(absl::string_view option,
                                    absl::string_view text);

// "KEY=VALUE", both of visible ASCII characters, at most 253 each.
absl::StatusOr<std::pair<std::string, std::string>> ParseLabel(
    absl::string_view option, absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_OPTION_TEXT_H_
