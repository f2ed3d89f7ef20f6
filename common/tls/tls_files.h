// The files with a process's TLS identity: what they must be, and their
// content.
//
// Every connection of a process is authenticated both ways, so each process
// needs a certificate, its key, and the authority that signs the certificates
// of all.
#ifndef PACELINE_COMMON_TLS_TLS_FILES_H_
#define PACELINE_COMMON_TLS_TLS_FILES_H_

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace paceline {

// The options for the files.
inline constexpr char kTlsCertificateOption[] = "--tls-cert";
inline constexpr char kTlsKeyOption[] = "--tls-key";
inline constexpr char kTlsAuthorityOption[] = "--tls-ca";

// Paths of PEM files; all "": no TLS.
struct TlsFiles {
  // The process's certificate, followed by those between it and the authority.
  std::string certificate;
  // Its private key, without a passphrase.
  std::string key;
  // The certificates of the authorities whose signature is trusted.
  std::string authority;

  bool empty() const {
    return certificate.empty() && key.empty() && authority.empty();
  }
};

struct FreeCertificate {
  void operator()(X509* certificate) const;
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const;
};
struct TlsMaterial {
  using Certificate = std::unique_ptr<X509, FreeCertificate>;

  // The process's own, then those between it and the authority.
  std::vector<Certificate> chain;
  std::unique_ptr<EVP_PKEY, FreeKey> key;
  std::vector<Certificate> authorities;
};

// Reads and checks the files. InvalidArgument names the file and what is wrong:
// it is no PEM, the key is of another certificate, the certificate is not valid
// at `now`, may not be used by both clients and servers, or is not signed by
// the authority. If a file is not given, the error names its option.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files, absl::Time now);

// The reason for the last failure of an OpenSSL function on this thread.
std::string TakeTlsError();

}  // namespace paceline

#endif  // PACELINE_COMMON_TLS_TLS_FILES_H_
