// TLS for all gRPC connections of a process, authenticated both ways.
//
// Each end shows a certificate that an authority of --tls-ca has signed; a
// client also checks the server's name (common/tls/server_name.h).
#ifndef PACELINE_COMMON_RPC_TLS_H_
#define PACELINE_COMMON_RPC_TLS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/tls/tls_files.h"

// The headers of gRPC's credentials are for common/rpc alone.
namespace grpc {
class ChannelCredentials;
class ServerCredentials;
namespace experimental {
class FileWatcherCertificateProvider;
}  // namespace experimental
}  // namespace grpc

namespace paceline {

// How often changed files are looked for. Connections made after that use them;
// existing ones go on.
inline constexpr absl::Duration kTlsReloadInterval = absl::Seconds(2);

// A process has one, for its servers and its clients. Thread-safe.
class Tls {
 public:
  // Checks the files, as ReadTlsFiles does. Null if none is given: connections
  // are plain.
  static absl::StatusOr<std::shared_ptr<const Tls>> Load(const TlsFiles& files);

  const TlsFiles& files() const { return files_; }

  // For connections to "host:port", and to a server.
  std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(
      const std::string& address) const;
  std::shared_ptr<grpc::ServerCredentials> ServerCredentials() const;

 private:
  explicit Tls(const TlsFiles& files);

  const TlsFiles files_;
  // Watches the files on a thread of its own.
  const std::shared_ptr<grpc::experimental::FileWatcherCertificateProvider>
      watcher_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_TLS_H_
