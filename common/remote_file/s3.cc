#include "common/remote_file/s3.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/identity/sha256.h"

namespace paceline {
namespace {

// As the signature wants paths: all but unreserved characters and slashes.
std::string PercentEncoded(absl::string_view path) {
  std::string encoded;
  for (const char c : path) {
    if (absl::ascii_isalnum(c) || absl::StrContains("-._~/", c)) {
      encoded += c;
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<uint8_t>(c));
    }
  }
  return encoded;
}

bool IsWord(absl::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isgraph(c)) return false;
  }
  return true;
}

// "https://host:port", to which the path is appended.
absl::StatusOr<std::string> ServerOf(const S3Access& access,
                                     const std::string& region,
                                     const RemoteUrl& url) {
  if (!access.endpoint.empty()) {
    std::string text = access.endpoint;
    if (!absl::EndsWith(text, "/")) text += "/";
    absl::StatusOr<RemoteUrl> endpoint = ParseUrlPrefix(text);
    if (!endpoint.ok() || endpoint->scheme == RemoteUrl::Scheme::kS3 ||
        endpoint->path != "/") {
      return absl::InvalidArgumentError(
          absl::StrCat("the endpoint of S3 (AWS_ENDPOINT_URL): \"",
                       ShownUrl(access.endpoint),
                       "\"; expected http://host:port or https://host:port"));
    }
    endpoint->path = absl::StrCat("/", url.host);
    return endpoint->Address();
  }
  // Amazon's certificate is for one part before s3.
  return absl::StrContains(url.host, '.')
             ? absl::StrCat("https://s3.", region, ".amazonaws.com/", url.host)
             : absl::StrCat("https://", url.host, ".s3.", region,
                            ".amazonaws.com");
}

}  // namespace

absl::StatusOr<HttpRequest> S3Request(const S3Access& access,
                                      const RemoteUrl& url) {
  const std::string region =
      access.region.empty() ? "us-east-1" : access.region;
  for (const char c : region) {
    if (absl::ascii_isalnum(c) || c == '-') continue;
    return absl::InvalidArgumentError(
        "the region of S3 (AWS_REGION): expected letters, digits and \"-\"");
  }
  HttpRequest request;
  ASSIGN_OR_RETURN(request.url, ServerOf(access, region, url));
  absl::StrAppend(&request.url, PercentEncoded(url.path));
  request.headers = {"x-amz-checksum-mode: ENABLED"};
  if (access.access_key.empty() && access.secret_key.empty()) return request;
  if (access.access_key.empty() || access.secret_key.empty() ||
      !IsWord(access.access_key) || !IsWord(access.secret_key) ||
      !IsWord(access.session_token)) {
    return absl::InvalidArgumentError(
        "the keys of S3: expected AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, both or neither, and with them "
        "AWS_SESSION_TOKEN if it is needed, each one word");
  }
  request.s3_region = region;
  // S3 wants it signed, and libcurl 7.88 does not add it.
  request.headers.push_back("x-amz-content-sha256: " + Sha256Hex(""));
  request.access_key = access.access_key;
  request.secret_key = access.secret_key;
  if (!access.session_token.empty()) {
    request.headers.push_back("x-amz-security-token: " + access.session_token);
  }
  return request;
}

}  // namespace paceline
