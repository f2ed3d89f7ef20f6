// Names of files that are not on this machine: http://, https:// and s3://.
#ifndef PACELINE_COMMON_BASE_REMOTE_URL_H_
#define PACELINE_COMMON_BASE_REMOTE_URL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

struct RemoteUrl {
  enum class Scheme { kHttp, kHttps, kS3 };
  Scheme scheme = Scheme::kHttps;
  // "host" or "host:port" in lower case, without the scheme's own port; of S3
  // the bucket.
  std::string host;
  // Begins with a slash. Of S3 the key behind the slash, as it is; else
  // percent-encoded, once ("%25" is refused). Has no part that a usual server
  // takes for "." or "..", however it is written: with parameters ("..;x"),
  // between backslashes, or with dots and spaces at its end.
  std::string path;
  // "", or what begins with the question mark. May hold a secret, such as a
  // signature. S3 has none.
  std::string query;
  // The hash that the content must have, 64 lower-case hexadecimal digits; "":
  // none is given.
  std::string sha256;

  // All but the hash.
  std::string Address() const;
  // For people and logs: without the content of the query.
  std::string Shown() const;
  // The part behind the last slash, at most its last 200 bytes.
  std::string FileName() const;
};

// Whether `path` of a job is meant as a URL: it begins with a word and "://".
bool IsRemote(absl::string_view path);

// Reads "http://host/path?query", "https://…" or "s3://bucket/key", each with
// an optional "#sha256=<64 hexadecimal digits>". InvalidArgument says what is
// expected, and has no user, password and query. A URL has only the characters
// that RFC 3986 allows, so that all programs read it alike; one with a user or
// password is refused.
absl::StatusOr<RemoteUrl> ParseRemoteUrl(absl::string_view text);

// A URL whose path ends with a slash, without query and hash: all below it.
absl::StatusOr<RemoteUrl> ParseUrlPrefix(absl::string_view text);

// Whether `url` is below the prefix: same scheme, host and port, and a path
// that goes on where that of `prefix` ends.
bool IsBelow(const RemoteUrl& url, const RemoteUrl& prefix);

// PermissionDenied, with the prefixes, unless `url` is below one of them.
absl::Status CheckAllowed(const RemoteUrl& url,
                          const std::vector<RemoteUrl>& prefixes);

// A text that should be a URL, for errors: printable, without user, password,
// query and hash.
std::string ShownUrl(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_REMOTE_URL_H_
