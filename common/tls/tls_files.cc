#include "common/tls/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <ctime>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

constexpr int64_t kMaxFileBytes = 1 << 20;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
struct FreeStore {
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
};
struct FreeStoreContext {
  void operator()(X509_STORE_CTX* context) const {
    X509_STORE_CTX_free(context);
  }
};
struct FreeStack {
  // It does not own its certificates.
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};

// The error for a file, by its option.
absl::Status Wrong(absl::string_view option, const std::string& path,
                   absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": ", path, ": ", what));
}

absl::Status CheckAllGiven(const TlsFiles& files) {
  const std::pair<const char*, const std::string&> given[] = {
      {kTlsCertificateOption, files.certificate},
      {kTlsKeyOption, files.key},
      {kTlsAuthorityOption, files.authority}};
  for (const auto& [option, path] : given) {
    if (!path.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        option, " is not given; expected all of ", kTlsCertificateOption, ", ",
        kTlsKeyOption, " and ", kTlsAuthorityOption, ", or none"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Read(absl::string_view option,
                                 const std::string& path) {
  absl::StatusOr<std::string> content = ReadFile(path, kMaxFileBytes);
  if (!content.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": ", content.status().message()));
  }
  return content;
}

Bio BioOf(const std::string& content) {
  return Bio(BIO_new_mem_buf(content.data(), static_cast<int>(content.size())));
}

// Gives no passphrase; OpenSSL would ask for one at the terminal.
int NoPassphrase(char* /*text*/, int /*size*/, int /*rwflag*/, void* /*data*/) {
  return -1;
}

absl::StatusOr<std::vector<TlsMaterial::Certificate>> ReadCertificates(
    absl::string_view option, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, Read(option, path));
  const Bio bio = BioOf(content);
  std::vector<TlsMaterial::Certificate> found;
  while (X509* const each =
             PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    found.emplace_back(each);
  }
  const bool at_end =
      ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string error = TakeTlsError();
  if (!found.empty() && at_end) return found;
  return Wrong(option, path,
               found.empty() && at_end
                   ? "holds no certificate; expected PEM"
                   : absl::StrCat("holds a malformed certificate (", error,
                                  "); expected PEM"));
}

absl::Status CheckTimes(X509* certificate, const std::string& path,
                        absl::Time now) {
  const auto text = [](const ASN1_TIME* time) {
    const Bio bio(BIO_new(BIO_s_mem()));
    ASN1_TIME_print(bio.get(), time);
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<size_t>(size));
  };
  std::time_t at = absl::ToTimeT(now);
  const ASN1_TIME* const end = X509_get0_notAfter(certificate);
  if (X509_cmp_time(end, &at) < 0) {
    return Wrong(kTlsCertificateOption, path,
                 absl::StrCat("the certificate expired at ", text(end)));
  }
  const ASN1_TIME* const begin = X509_get0_notBefore(certificate);
  if (X509_cmp_time(begin, &at) > 0) {
    return Wrong(
        kTlsCertificateOption, path,
        absl::StrCat("the certificate is not valid before ", text(begin)));
  }
  return absl::OkStatus();
}

// A process is a client of some tasks and a server for others.
absl::Status CheckUses(X509* certificate, const std::string& path) {
  for (const int purpose : {X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER}) {
    if (X509_check_purpose(certificate, purpose, /*ca=*/0) == 1) continue;
    return Wrong(kTlsCertificateOption, path,
                 "the certificate's extensions do not let both clients and "
                 "servers use it; expected extended key usage serverAuth and "
                 "clientAuth");
  }
  return absl::OkStatus();
}

absl::Status CheckSignature(const TlsMaterial& material, const TlsFiles& files,
                            absl::Time now) {
  const std::unique_ptr<X509_STORE, FreeStore> store(X509_STORE_new());
  for (const auto& each : material.authorities) {
    X509_STORE_add_cert(store.get(), each.get());
  }
  const std::unique_ptr<STACK_OF(X509), FreeStack> others(sk_X509_new_null());
  for (const auto& each : material.chain) {
    sk_X509_push(others.get(), each.get());
  }
  const std::unique_ptr<X509_STORE_CTX, FreeStoreContext> context(
      X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), material.chain[0].get(),
                      others.get());
  X509_STORE_CTX_set_time(context.get(), 0, absl::ToTimeT(now));
  if (X509_verify_cert(context.get()) == 1) return absl::OkStatus();
  const int error = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  return Wrong(kTlsCertificateOption, files.certificate,
               absl::StrCat("the certificate is not one of ",
                            kTlsAuthorityOption, " ", files.authority, " (",
                            X509_verify_cert_error_string(error), ")"));
}

}  // namespace

void FreeCertificate::operator()(X509* certificate) const {
  X509_free(certificate);
}
void FreeKey::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

std::string TakeTlsError() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason == nullptr ? "unknown reason" : reason;
}

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files,
                                         absl::Time now) {
  RETURN_IF_ERROR(CheckAllGiven(files));
  ERR_clear_error();
  TlsMaterial material;
  ASSIGN_OR_RETURN(material.chain,
                   ReadCertificates(kTlsCertificateOption, files.certificate));
  ASSIGN_OR_RETURN(material.authorities,
                   ReadCertificates(kTlsAuthorityOption, files.authority));
  ASSIGN_OR_RETURN(const std::string key, Read(kTlsKeyOption, files.key));
  material.key.reset(PEM_read_bio_PrivateKey(BioOf(key).get(), nullptr,
                                             NoPassphrase, nullptr));
  if (material.key == nullptr) {
    return Wrong(kTlsKeyOption, files.key,
                 absl::StrCat("cannot be read (", TakeTlsError(),
                              "); expected a private key as PEM, without a "
                              "passphrase"));
  }
  X509* const own = material.chain[0].get();
  if (X509_check_private_key(own, material.key.get()) != 1) {
    ERR_clear_error();
    return Wrong(kTlsKeyOption, files.key,
                 absl::StrCat("is not the key of the certificate in ",
                              files.certificate));
  }
  RETURN_IF_ERROR(CheckTimes(own, files.certificate, now));
  RETURN_IF_ERROR(CheckUses(own, files.certificate));
  RETURN_IF_ERROR(CheckSignature(material, files, now));
  return material;
}

}  // namespace paceline
