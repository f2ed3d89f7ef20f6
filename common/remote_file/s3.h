// Files in Amazon's S3, and in what speaks like it.
#ifndef PACELINE_COMMON_REMOTE_FILE_S3_H_
#define PACELINE_COMMON_REMOTE_FILE_S3_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/base/remote_url.h"
#include "common/remote_file/transfer.h"

namespace paceline {

// As in the environment variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN, AWS_REGION (or AWS_DEFAULT_REGION) and AWS_ENDPOINT_URL;
// "": not set.
struct S3Access {
  // Without keys requests are not signed, which public buckets allow.
  std::string access_key;
  std::string secret_key;
  std::string session_token;
  // "": us-east-1.
  std::string region;
  // "https://host:port" of another server than Amazon's, whose buckets are then
  // parts of the path; "": https://BUCKET.s3.REGION.amazonaws.com.
  std::string endpoint;
};

// The request for an s3:// URL. InvalidArgument for an endpoint that is none,
// or a key without its secret; has neither of them.
absl::StatusOr<HttpRequest> S3Request(const S3Access& access,
                                      const RemoteUrl& url);

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_S3_H_
