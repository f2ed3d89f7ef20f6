#include "common/tls/tls_tunnels.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/tls/server_name.h"
#include "common/tls/tls_tunnel.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// How many bytes OpenSSL receives at once, at most.
constexpr size_t kReadAhead = 256 << 10;

// Sets how the server's certificate is checked, and which one it should show.
absl::Status SetServer(const std::string& address, SSL* connection) {
  SSL_set_connect_state(connection);
  ASSIGN_OR_RETURN(const Address server, ParseAddress(address));
  X509_VERIFY_PARAM* const checks = SSL_get0_param(connection);
  // Fails for a name.
  const bool is_ip =
      X509_VERIFY_PARAM_set1_ip_asc(checks, server.host.c_str()) == 1;
  if (is_ip && !ChecksServerName(address)) {
    X509_VERIFY_PARAM_set1_ip(checks, nullptr, 0);
  }
  if (!is_ip) {
    if (SSL_set1_host(connection, server.host.c_str()) != 1 ||
        SSL_set_tlsext_host_name(connection, server.host.c_str()) != 1) {
      return absl::InternalError(
          absl::StrCat("TLS: the name ", server.host,
                       " cannot be checked: ", TakeTlsError()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void FreeTlsContext::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}

absl::StatusOr<std::unique_ptr<TlsTunnels>> TlsTunnels::Make(
    const TlsFiles& files) {
  ASSIGN_OR_RETURN(const TlsMaterial material,
                   ReadTlsFiles(files, absl::Now()));
  Context context(SSL_CTX_new(TLS_method()));
  SSL_CTX* const openssl = context.get();
  CHECK(openssl != nullptr);
  SSL_CTX_set_min_proto_version(openssl, TLS1_3_VERSION);
  SSL_CTX_set_verify(openssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  SSL_CTX_set_mode(openssl, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Connections are not resumed. A ticket that nobody reads would have a
  // connection reset when it is closed.
  SSL_CTX_set_num_tickets(openssl, 0);
  SSL_CTX_set_session_cache_mode(openssl, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_read_ahead(openssl, 1);
  SSL_CTX_set_default_read_buffer_len(openssl, kReadAhead);
  bool is_set =
      SSL_CTX_use_certificate(openssl, material.chain[0].get()) == 1 &&
      SSL_CTX_use_PrivateKey(openssl, material.key.get()) == 1;
  for (size_t i = 1; i < material.chain.size(); ++i) {
    is_set = is_set &&
             SSL_CTX_add1_chain_cert(openssl, material.chain[i].get()) == 1;
  }
  for (const auto& each : material.authorities) {
    is_set = is_set && X509_STORE_add_cert(SSL_CTX_get_cert_store(openssl),
                                           each.get()) == 1;
  }
  if (!is_set) {
    return absl::InvalidArgumentError(
        absl::StrCat(kTlsCertificateOption, ": ", files.certificate,
                     ": OpenSSL refuses it: ", TakeTlsError()));
  }
  return std::unique_ptr<TlsTunnels>(new TlsTunnels(std::move(context)));
}

TlsTunnels::TlsTunnels(Context context) : context_(std::move(context)) {}

TlsTunnels::~TlsTunnels() = default;

absl::StatusOr<FileDescriptor> TlsTunnels::Dial(FileDescriptor socket,
                                                const std::string& address,
                                                absl::Duration timeout) {
  ASSIGN_OR_RETURN(FileDescriptor plain, Add(std::move(socket), address));
  const absl::Status status = tunnels_.back()->AwaitHandshake(timeout);
  if (!status.ok()) return status;
  return plain;
}

absl::StatusOr<FileDescriptor> TlsTunnels::Accept(FileDescriptor socket) {
  return Add(std::move(socket), /*address=*/"");
}

absl::StatusOr<FileDescriptor> TlsTunnels::Add(FileDescriptor socket,
                                               const std::string& address) {
  tunnels_.erase(
      std::remove_if(tunnels_.begin(), tunnels_.end(),
                     [](const auto& each) { return each->has_ended(); }),
      tunnels_.end());
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  FileDescriptor programs(ends[0]);
  FileDescriptor own(ends[1]);
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  TlsConnection connection(SSL_new(context_.get()));
  CHECK(connection != nullptr);
  CHECK_EQ(SSL_set_fd(connection.get(), socket.get()), 1);
  if (address.empty()) {
    SSL_set_accept_state(connection.get());
  } else {
    RETURN_IF_ERROR(SetServer(address, connection.get()));
  }
  tunnels_.push_back(std::make_unique<TlsTunnel>(
      std::move(connection), std::move(socket), std::move(own)));
  return programs;
}

}  // namespace paceline
