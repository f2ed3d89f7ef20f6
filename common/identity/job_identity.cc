#include "common/identity/job_identity.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/mac.h"

namespace paceline {
namespace {

constexpr size_t kIdBytes = 8;

}  // namespace

std::string JobIdentity::ToString() const {
  return absl::StrCat("job ", id, " generation ", generation);
}

JobIdentity DrawJobIdentity() {
  return {absl::BytesToHexString(RandomBytes(kIdBytes)), 1};
}

bool IsJobId(const std::string& id) {
  return id.size() == 2 * kIdBytes &&
         std::all_of(id.begin(), id.end(), [](char digit) {
           return (digit >= '0' && digit <= '9') ||
                  (digit >= 'a' && digit <= 'f');
         });
}

}  // namespace paceline
