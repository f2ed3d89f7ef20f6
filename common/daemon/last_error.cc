#include "common/daemon/last_error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/random_access.h"

namespace paceline {

std::string LastErrorIn(const std::string& log_path) {
  constexpr int64_t kTailBytes = 16 << 10;
  const absl::StatusOr<std::unique_ptr<RandomAccess>> log =
      OpenRandomAccess(log_path);
  if (!log.ok()) return "";
  const int64_t size = std::min(kTailBytes, (*log)->size_bytes());
  std::string tail(static_cast<size_t>(size), '\0');
  const absl::Status read =
      (*log)->ReadAt((*log)->size_bytes() - size,
                     {reinterpret_cast<std::byte*>(tail.data()), tail.size()});
  if (!read.ok()) return "";
  std::string error;
  for (absl::string_view line : absl::StrSplit(tail, '\n')) {
    if (absl::ConsumePrefix(&line, "error: ")) error = std::string(line);
  }
  return error;
}

}  // namespace paceline
