// Durations, sizes and numbers of cores as people write and read them; sizes
// are read by common/base/option_text.h.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_UNITS_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_UNITS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace paceline {

// "90s", "1h30m", "2d": above 0. InvalidArgument names the `option`, the text
// and what is expected; the same below.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view option,
                                             absl::string_view text);
// "3s", "2m", "1h5m", "4d2h": the two largest units. Below a second: "0s".
std::string ShortDuration(absl::Duration duration);

// "512 B", "1.5 MiB".
std::string ShortSize(uint64_t bytes);

// Thousandths of a core: 500 for "0.5".
absl::StatusOr<uint64_t> ParseCores(absl::string_view option,
                                    absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_UNITS_H_
