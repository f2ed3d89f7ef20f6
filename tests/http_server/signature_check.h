// Checks requests as S3 does.
#ifndef PACELINE_TESTS_HTTP_SERVER_SIGNATURE_CHECK_H_
#define PACELINE_TESTS_HTTP_SERVER_SIGNATURE_CHECK_H_

#include <string>

#include "tests/http_server/http_server.h"

namespace paceline {

// "", or what is wrong with the request's signature (version 4, for a GET
// without a body in region `region`) by this pair of keys, computed from what
// came. Also wrong: a signature without the host, or without a header x-amz-….
std::string SignatureError(const TestRequest& request,
                           const std::string& access_key,
                           const std::string& secret_key,
                           const std::string& region);

}  // namespace paceline

#endif  // PACELINE_TESTS_HTTP_SERVER_SIGNATURE_CHECK_H_
