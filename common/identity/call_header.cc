#include "common/identity/call_header.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "common/identity/job_identity.h"
#include "common/identity/mac.h"

namespace paceline {
namespace {

// Tag and length of the field `mac`, which must be the last field.
constexpr std::array<char, 2> kMacPrefix = {
    (v1::CallHeader::kMacFieldNumber << 3) | 2, static_cast<char>(kMacSize)};
constexpr size_t kMacFieldSize = kMacPrefix.size() + kMacSize;

absl::string_view MacPrefix() { return {kMacPrefix.data(), kMacPrefix.size()}; }

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(kHeaderKey, ": ", what,
                   "; proto/paceline/v1/call.proto says what is "
                   "expected"));
}

}  // namespace

std::string SignedHeader(absl::string_view content, absl::string_view mac) {
  return absl::StrCat(content, MacPrefix(), mac);
}

absl::StatusOr<ReceivedHeader> ReadHeader(absl::string_view bytes) {
  ReceivedHeader received;
  received.content = bytes;
  if (bytes.size() >= kMacFieldSize &&
      bytes.substr(bytes.size() - kMacFieldSize, kMacPrefix.size()) ==
          MacPrefix()) {
    received.content = bytes.substr(0, bytes.size() - kMacFieldSize);
    received.mac = bytes.substr(bytes.size() - kMacSize);
  }
  v1::CallHeader& header = received.header;
  if (!header.ParseFromArray(received.content.data(),
                             static_cast<int>(received.content.size()))) {
    return Malformed("it is no CallHeader");
  }
  if (!header.mac().empty()) return Malformed("mac is not the last field");
  if (header.sender().type() < v1::TASK_TYPE_CHIEF ||
      header.sender().type() > v1::TASK_TYPE_EVALUATOR) {
    return Malformed("sender.type is no task type");
  }
  if (header.incarnation() == 0) return Malformed("incarnation is 0");
  if (header.sequence() == 0) return Malformed("sequence is 0");
  if (!header.job_id().empty() && !IsJobId(header.job_id())) {
    return Malformed("job_id is malformed");
  }
  return received;
}

}  // namespace paceline
