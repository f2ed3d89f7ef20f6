// TLS for connections that a program uses as plain sockets.
//
//   program <── pair of local sockets ──> thread <── TCP, encrypted ──> peer
//
// The program polls its end, shares it among threads and closes it in one
// direction, all of which OpenSSL's connections do not allow. Besides,
// encryption happens beside the program's computation. It costs a thread per
// connection and a copy of the data.
#ifndef PACELINE_COMMON_TLS_TLS_TUNNELS_H_
#define PACELINE_COMMON_TLS_TLS_TUNNELS_H_

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/tls/tls_files.h"

namespace paceline {

class TlsTunnel;

struct FreeTlsContext {
  void operator()(SSL_CTX* context) const;
};

// The tunnels of one process that use the same files. Not thread-safe.
class TlsTunnels {
 public:
  // Reads the files, and checks them as ReadTlsFiles does.
  static absl::StatusOr<std::unique_ptr<TlsTunnels>> Make(
      const TlsFiles& files);
  // All ends that the program has must be closed. Blocks until what was sent is
  // on its way, for a second at most.
  ~TlsTunnels();

  // Both take a connected socket, and return the program's end of the tunnel, a
  // blocking stream socket. It is closed when the connection is, and the other
  // way round.
  //
  // As the client of the server at "host:port". Blocks until both ends have
  // proven themselves, at most for `timeout`; then Unavailable.
  // Unauthenticated: the server's certificate is refused, or the handshake
  // failed. Aborted: the server closed the connection, perhaps since it knows
  // no TLS.
  absl::StatusOr<FileDescriptor> Dial(FileDescriptor socket,
                                      const std::string& address,
                                      absl::Duration timeout);
  // As the server. The client proves itself later; if it cannot, the reason is
  // logged and the end is closed.
  absl::StatusOr<FileDescriptor> Accept(FileDescriptor socket);

 private:
  using Context = std::unique_ptr<SSL_CTX, FreeTlsContext>;
  explicit TlsTunnels(Context context);
  // Returns the program's end.
  absl::StatusOr<FileDescriptor> Add(FileDescriptor socket,
                                     const std::string& address);

  const Context context_;
  std::vector<std::unique_ptr<TlsTunnel>> tunnels_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TLS_TLS_TUNNELS_H_
