#include "tests/http_server/signature_check.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/identity/mac.h"
#include "common/identity/sha256.h"

namespace paceline {
namespace {

constexpr char kAlgorithm[] = "AWS4-HMAC-SHA256";

// The value of "Key=value" in the header Authorization.
std::string Part(const std::string& authorization, const std::string& key) {
  const size_t begin = authorization.find(key + "=");
  if (begin == std::string::npos) return "";
  const size_t value = begin + key.size() + 1;
  return authorization.substr(value, authorization.find(',', value) - value);
}

}  // namespace

std::string SignatureError(const TestRequest& request,
                           const std::string& access_key,
                           const std::string& secret_key,
                           const std::string& region) {
  const std::string authorization = request.Header("authorization");
  if (!absl::StartsWith(authorization, kAlgorithm)) return "not signed";
  const std::string time = request.Header("x-amz-date");
  const std::string day = time.substr(0, 8);
  const std::string scope = absl::StrCat(day, "/", region, "/s3/aws4_request");
  if (Part(authorization, "Credential") !=
      absl::StrCat(access_key, "/", scope)) {
    return absl::StrCat("credential: ", authorization);
  }
  const std::string names = Part(authorization, "SignedHeaders");
  const std::vector<std::string> is_signed = absl::StrSplit(names, ';');
  if (!std::is_sorted(is_signed.begin(), is_signed.end())) return "unsorted";
  for (const auto& [name, value] : request.headers) {
    if (name != "host" && !absl::StartsWith(name, "x-amz-")) continue;
    if (std::find(is_signed.begin(), is_signed.end(), name) ==
        is_signed.end()) {
      return absl::StrCat(name, " is not signed");
    }
  }
  const std::string body = request.Header("x-amz-content-sha256");
  if (body != Sha256Hex("") && body != "UNSIGNED-PAYLOAD") {
    return absl::StrCat("x-amz-content-sha256: \"", body, "\"");
  }
  std::string canonical = absl::StrCat("GET\n", request.target, "\n\n");
  for (const std::string& name : is_signed) {
    absl::StrAppend(&canonical, name, ":", request.Header(name), "\n");
  }
  absl::StrAppend(&canonical, "\n", names, "\n", body);
  const std::string text = absl::StrCat(kAlgorithm, "\n", time, "\n", scope,
                                        "\n", Sha256Hex(canonical));
  std::string key = HmacSha256("AWS4" + secret_key, day);
  for (const std::string& word :
       {region, std::string("s3"), std::string("aws4_request")}) {
    key = HmacSha256(key, word);
  }
  const std::string expected = absl::BytesToHexString(HmacSha256(key, text));
  return Part(authorization, "Signature") == expected
             ? ""
             : absl::StrCat("signature of\n", canonical);
}

}  // namespace paceline
