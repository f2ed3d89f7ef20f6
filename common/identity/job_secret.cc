#include "common/identity/job_secret.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/identity/mac.h"
#include "common/limits.h"

namespace paceline {

JobSecret::JobSecret(std::string text)
    : text_(std::move(text)),
      call_key_(HmacSha256(text_, "paceline call")),
      ring_key_(HmacSha256(text_, "paceline ring")) {}

absl::StatusOr<JobSecret> JobSecret::FromText(absl::string_view text,
                                              absl::string_view owner) {
  const absl::string_view secret = absl::StripAsciiWhitespace(text);
  if (secret.size() < limits::kMinSecretBytes ||
      secret.size() > limits::kMaxSecretBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", owner, "'s secret has ", secret.size(),
        " characters; expected ", limits::kMinSecretBytes, " to ",
        limits::kMaxSecretBytes, ", as `openssl rand -hex 32` prints them"));
  }
  return JobSecret(std::string(secret));
}

absl::StatusOr<JobSecret> JobSecret::FromFile(const std::string& path,
                                              absl::string_view owner) {
  // Allows for white space around the secret.
  absl::StatusOr<std::string> text =
      ReadFile(path, 2 * limits::kMaxSecretBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", owner, "'s secret: ", text.status().message()));
  }
  absl::StatusOr<JobSecret> secret = FromText(*text, owner);
  if (!secret.ok()) return Annotate(secret.status(), path);
  return secret;
}

JobSecret JobSecret::Draw() {
  return JobSecret(absl::BytesToHexString(RandomBytes(32)));
}

std::string JobSecret::ProveCall(absl::string_view challenge,
                                 absl::string_view header) const {
  return HmacSha256(call_key_, absl::StrCat(challenge, header));
}

std::string JobSecret::ProveRing(absl::string_view side,
                                 absl::string_view transcript) const {
  return HmacSha256(ring_key_, absl::StrCat(side, transcript));
}

}  // namespace paceline
