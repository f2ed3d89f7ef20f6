#include "common/rpc/tls.h"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "common/tls/server_name.h"

namespace paceline {
namespace {

// What clients and servers have in common.
void Watch(const std::shared_ptr<
               grpc::experimental::FileWatcherCertificateProvider>& watcher,
           grpc::experimental::TlsCredentialsOptions& options) {
  options.set_certificate_provider(watcher);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Tls>> Tls::Load(const TlsFiles& files) {
  if (files.empty()) return std::shared_ptr<const Tls>();
  RETURN_IF_ERROR(ReadTlsFiles(files, absl::Now()).status());
  return std::shared_ptr<const Tls>(new Tls(files));
}

Tls::Tls(const TlsFiles& files)
    : files_(files),
      watcher_(
          std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
              files.key, files.certificate, files.authority,
              static_cast<unsigned>(
                  absl::ToInt64Seconds(kTlsReloadInterval)))) {}

std::shared_ptr<grpc::ChannelCredentials> Tls::ChannelCredentials(
    const std::string& address) const {
  grpc::experimental::TlsChannelCredentialsOptions options;
  Watch(watcher_, options);
  options.set_verify_server_certs(true);
  // The verifier does it, once a connection.
  options.set_check_call_host(false);
  std::shared_ptr<grpc::experimental::CertificateVerifier> verifier;
  if (ChecksServerName(address)) {
    verifier =
        std::make_shared<grpc::experimental::HostNameCertificateVerifier>();
  } else {
    verifier = std::make_shared<grpc::experimental::NoOpCertificateVerifier>();
  }
  options.set_certificate_verifier(verifier);
  return grpc::experimental::TlsCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> Tls::ServerCredentials() const {
  grpc::experimental::TlsServerCredentialsOptions options(watcher_);
  Watch(watcher_, options);
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace paceline
