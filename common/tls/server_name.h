// Which servers have to show a certificate of their own name.
#ifndef PACELINE_COMMON_TLS_SERVER_NAME_H_
#define PACELINE_COMMON_TLS_SERVER_NAME_H_

#include "absl/strings/string_view.h"

namespace paceline {

// Whether a client of "host:port" checks that the server's certificate is for
// this host. Not for a number of loopback (127.0.0.1): only this machine
// answers there, and a task that leads reaches its leader so, whatever its own
// name is. An authority must have signed the certificate in any case.
bool ChecksServerName(absl::string_view address);

}  // namespace paceline

#endif  // PACELINE_COMMON_TLS_SERVER_NAME_H_
