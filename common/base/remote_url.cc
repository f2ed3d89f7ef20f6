#include "common/base/remote_url.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"

namespace paceline {
namespace {

using Scheme = RemoteUrl::Scheme;

constexpr size_t kMaxUrlBytes = 8 << 10;
// Of a name in a folder, which may have 255 bytes.
constexpr size_t kMaxFileNameBytes = 200;
constexpr absl::string_view kHash = "#sha256=";
constexpr size_t kHashDigits = 64;
constexpr absl::string_view kExpectedParts =
    "expected UTF-8 without control characters and without parts of dots alone "
    "(\"..\", \"..;x\")";

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", ShownUrl(text), "\": ", what));
}

const char* NameOf(Scheme scheme) {
  switch (scheme) {
    case Scheme::kHttp:
      return "http";
    case Scheme::kHttps:
      return "https";
    case Scheme::kS3:
      break;
  }
  return "s3";
}

bool HasOnly(absl::string_view text, absl::string_view punctuation) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains(punctuation, c);
  });
}

// nullopt unless each percent sign has two hexadecimal digits behind it.
std::optional<std::string> Decoded(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const absl::string_view digits = text.substr(i + 1, 2);
    if (digits.size() < 2 || !absl::ascii_isxdigit(digits[0]) ||
        !absl::ascii_isxdigit(digits[1])) {
      return std::nullopt;
    }
    decoded += absl::HexStringToBytes(digits);
    i += 2;
  }
  return decoded;
}

// Whether servers may take the decoded path for another one. Some end its parts
// at backslashes, too, leave out what is behind a semicolon (Java's), or dots
// and spaces at the end of a part (Windows'), or take bytes that are not UTF-8
// for longer forms of dots and slashes.
bool MayLeadElsewhere(absl::string_view decoded) {
  for (absl::string_view part :
       absl::StrSplit(decoded, absl::ByAnyChar("/\\"))) {
    part = part.substr(0, part.find(';'));
    if (absl::StrContains(part, '.') &&
        part.find_first_not_of(". ") == absl::string_view::npos) {
      return true;
    }
  }
  return !IsUtf8(decoded) ||
         std::any_of(decoded.begin(), decoded.end(),
                     [](char c) { return absl::ascii_iscntrl(c); });
}

absl::Status ReadHash(absl::string_view text, absl::string_view& rest,
                      RemoteUrl& url) {
  const size_t begin = rest.rfind(kHash);
  if (begin == absl::string_view::npos) return absl::OkStatus();
  const absl::string_view digits = rest.substr(begin + kHash.size());
  if (digits.size() != kHashDigits ||
      !std::all_of(digits.begin(), digits.end(),
                   [](char c) { return absl::ascii_isxdigit(c); })) {
    return Wrong(text, absl::StrCat("expected ", kHashDigits,
                                    " hexadecimal digits behind #sha256="));
  }
  url.sha256 = absl::AsciiStrToLower(digits);
  rest = rest.substr(0, begin);
  return absl::OkStatus();
}

absl::Status ReadHost(absl::string_view text, absl::string_view host,
                      RemoteUrl& url) {
  if (absl::StrContains(host, '@')) {
    return Wrong(text,
                 "has a user or a password, which logs would show; expected "
                 "none");
  }
  absl::string_view name = host;
  const size_t colon = host.rfind(':');
  const bool has_port =
      colon != absl::string_view::npos && !absl::EndsWith(host, "]");
  int port = 0;
  if (has_port) {
    name = host.substr(0, colon);
    if (!HasOnly(host.substr(colon + 1), "") ||
        !absl::SimpleAtoi(host.substr(colon + 1), &port) || port < 1 ||
        port > 65535) {
      return Wrong(text, "expected a port from 1 to 65535");
    }
  }
  absl::string_view inner = name;
  const bool is_ipv6 =
      absl::ConsumePrefix(&inner, "[") && absl::ConsumeSuffix(&inner, "]");
  if (inner.empty() || !HasOnly(inner, is_ipv6 ? ":." : "-._")) {
    return Wrong(text, "expected a host of letters, digits, \"-\" and \".\"");
  }
  const int usual = url.scheme == Scheme::kHttp ? 80 : 443;
  url.host = absl::AsciiStrToLower(name);
  if (has_port && port != usual) absl::StrAppend(&url.host, ":", port);
  return absl::OkStatus();
}

absl::Status ReadBucket(absl::string_view text, absl::string_view bucket,
                        RemoteUrl& url) {
  if (bucket.size() < 3 || bucket.size() > 63 || !HasOnly(bucket, "-._") ||
      !absl::ascii_isalnum(bucket[0])) {
    return Wrong(text,
                 "expected a bucket of 3 to 63 letters, digits, \"-\", \".\" "
                 "and \"_\"");
  }
  url.host = std::string(bucket);
  return absl::OkStatus();
}

absl::Status ReadWebPath(absl::string_view text, absl::string_view rest,
                         RemoteUrl& url) {
  constexpr absl::string_view kPathMarks = "-._~!$&'()*+,;=:@/%";
  const size_t mark = std::min(rest.find('?'), rest.size());
  url.path = std::string(rest.substr(0, mark));
  url.query = std::string(rest.substr(mark));
  const std::optional<std::string> decoded = Decoded(url.path);
  if (!decoded || !HasOnly(url.path, kPathMarks) || !Decoded(url.query) ||
      !HasOnly(url.query, absl::StrCat(kPathMarks, "?"))) {
    return Wrong(text,
                 "expected the characters of a URL, others percent-encoded, "
                 "and behind \"#\" nothing but sha256=…");
  }
  if (absl::StrContains(*decoded, '%')) {
    return Wrong(text,
                 "expected a path without \"%25\", which some servers decode "
                 "twice");
  }
  if (MayLeadElsewhere(*decoded)) return Wrong(text, kExpectedParts);
  return absl::OkStatus();
}

}  // namespace

std::string RemoteUrl::Address() const {
  return absl::StrCat(NameOf(scheme), "://", host, path, query);
}

std::string RemoteUrl::Shown() const {
  return PeerText(absl::StrCat(NameOf(scheme), "://", host, path,
                               query.empty() ? "" : "?…"));
}

std::string RemoteUrl::FileName() const {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.size() <= kMaxFileNameBytes
             ? name
             : name.substr(name.size() - kMaxFileNameBytes);
}

bool IsRemote(absl::string_view path) {
  const size_t mark = path.find("://");
  return mark != absl::string_view::npos && mark > 0 &&
         absl::ascii_isalpha(path[0]) && HasOnly(path.substr(0, mark), "+-.");
}

absl::StatusOr<RemoteUrl> ParseRemoteUrl(absl::string_view text) {
  if (text.size() > kMaxUrlBytes) {
    return Wrong(text, absl::StrCat("expected a URL of at most ", kMaxUrlBytes,
                                    " bytes"));
  }
  RemoteUrl url;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "http://")) {
    url.scheme = Scheme::kHttp;
  } else if (absl::ConsumePrefix(&rest, "https://")) {
    url.scheme = Scheme::kHttps;
  } else if (absl::ConsumePrefix(&rest, "s3://")) {
    url.scheme = Scheme::kS3;
  } else {
    return Wrong(text, "expected a path, or http://, https:// or s3://");
  }
  RETURN_IF_ERROR(ReadHash(text, rest, url));
  const size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  const absl::string_view host = rest.substr(0, slash);
  rest = rest.substr(slash);
  if (rest.empty() || rest[0] != '/') {
    return Wrong(text, "expected a path behind the host");
  }
  if (url.scheme != Scheme::kS3) {
    RETURN_IF_ERROR(ReadHost(text, host, url));
    RETURN_IF_ERROR(ReadWebPath(text, rest, url));
    return url;
  }
  RETURN_IF_ERROR(ReadBucket(text, host, url));
  url.path = std::string(rest);
  // The key's own "%2e%2e" is encoded once more; some servers decode twice.
  if (MayLeadElsewhere(rest) || MayLeadElsewhere(Decoded(rest).value_or(""))) {
    return Wrong(text, kExpectedParts);
  }
  return url;
}

absl::StatusOr<RemoteUrl> ParseUrlPrefix(absl::string_view text) {
  ASSIGN_OR_RETURN(RemoteUrl url, ParseRemoteUrl(text));
  if (absl::EndsWith(url.path, "/") && url.query.empty() &&
      url.sha256.empty()) {
    return url;
  }
  return Wrong(text, "expected a slash at the end, below which all is meant");
}

bool IsBelow(const RemoteUrl& url, const RemoteUrl& prefix) {
  return url.scheme == prefix.scheme && url.host == prefix.host &&
         absl::StartsWith(url.path, prefix.path);
}

absl::Status CheckAllowed(const RemoteUrl& url,
                          const std::vector<RemoteUrl>& prefixes) {
  const bool is_allowed = std::any_of(
      prefixes.begin(), prefixes.end(),
      [&](const RemoteUrl& prefix) { return IsBelow(url, prefix); });
  if (is_allowed) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "not allowed; expected a URL below one that a --data of the daemon "
      "names: ",
      prefixes.empty()
          ? "there is none"
          : absl::StrJoin(prefixes, ", ",
                          [](std::string* text, const RemoteUrl& prefix) {
                            text->append(prefix.Shown());
                          })));
}

std::string ShownUrl(absl::string_view text) {
  const size_t begin = text.find("://");
  if (begin == absl::string_view::npos) return PeerText(text);
  std::string scheme(text.substr(0, begin + 3));
  absl::string_view rest = text.substr(begin + 3);
  // A password may have any character, so what is before the last "@" goes.
  if (const size_t at = rest.rfind('@'); at != absl::string_view::npos) {
    rest = rest.substr(at + 1);
    absl::StrAppend(&scheme, "…@");
  }
  const size_t end = rest.find_first_of("?#");
  const absl::string_view more = end == absl::string_view::npos ? "" : "…";
  return PeerText(absl::StrCat(scheme, rest.substr(0, end), more));
}

}  // namespace paceline
