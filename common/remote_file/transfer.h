// One HTTP request, by libcurl.
#ifndef PACELINE_COMMON_REMOTE_FILE_TRANSFER_H_
#define PACELINE_COMMON_REMOTE_FILE_TRANSFER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace paceline {

// How requests get to servers.
struct Network {
  // PEM file of the authorities that servers' certificates are checked by; "":
  // the system's.
  std::string authority_file;
  // "http://host:port" of a proxy for each scheme, and the hosts without one,
  // as in the environment variables http_proxy, https_proxy and no_proxy.
  std::string http_proxy;
  std::string https_proxy;
  std::string no_proxy;
  // A server that does not take a connection, or sends less than 1 KiB/s, for
  // so long is given up. What this process does with the bytes takes none of
  // that time.
  absl::Duration patience = absl::Seconds(60);
};

struct HttpRequest {
  // http:// or https://, as RemoteUrl::Address.
  std::string url;
  // "Name: value".
  std::vector<std::string> headers;
  // The first byte that is wanted; above 0 a range is asked for.
  int64_t offset = 0;
  // Unless empty, signs by AWS' signature version 4: region and keys.
  std::string s3_region;
  std::string access_key;
  std::string secret_key;
};

struct HttpResponse {
  int status = 0;
  // By name in lower case; of several of a name, the last.
  std::map<std::string, std::string> headers;
  // Of the body; -1: the server does not say.
  int64_t length = -1;
  // Where a redirect leads, as an absolute URL; "": nowhere.
  std::string redirect;

  // "": there is no such header.
  std::string Header(const std::string& name) const;
};

// Sends a GET request, and follows no redirect. Calls `answered` once with the
// response's status and headers, and then `take` with its body, piece by piece;
// their errors end the transfer and are returned. The rest is Unavailable for
// what may pass, DataLoss if the connection ends before the body does, and
// FailedPrecondition if a certificate does not prove that the server is the
// URL's host. Messages have no URL. Blocks; nothing takes forever (`network`).
absl::Status Transfer(
    const HttpRequest& request, const Network& network,
    absl::FunctionRef<absl::Status(const HttpResponse&)> answered,
    absl::FunctionRef<absl::Status(absl::string_view)> take);

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_TRANSFER_H_
