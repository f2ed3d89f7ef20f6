#include "tests/certificates/test_authority.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "glog/logging.h"

namespace paceline {
namespace {

void Write(const std::string& path, BIO* bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio, &data);
  const std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  const absl::Status written = WriteFileAtomically(path, text);
  CHECK(written.ok()) << written;
}

void WriteCertificate(const std::string& path, X509* certificate) {
  BIO* const bio = BIO_new(BIO_s_mem());
  CHECK_EQ(PEM_write_bio_X509(bio, certificate), 1);
  Write(path, bio);
}

void WriteKey(const std::string& path, EVP_PKEY* key) {
  BIO* const bio = BIO_new(BIO_s_mem());
  CHECK_EQ(
      PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr),
      1);
  Write(path, bio);
}

void AddExtension(X509* certificate, int id, const std::string& value) {
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str());
  CHECK(extension != nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// A certificate that nobody has signed yet.
TlsMaterial::Certificate Draft(const std::string& name, EVP_PKEY* key,
                               absl::Duration validity) {
  TlsMaterial::Certificate certificate(X509_new());
  X509* const raw = certificate.get();
  X509_set_version(raw, 2);
  // Authorities never give a number twice.
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(raw),
                          std::random_device()() | uint64_t{1});
  X509_gmtime_adj(X509_getm_notBefore(raw), -3600);
  X509_gmtime_adj(X509_getm_notAfter(raw), absl::ToInt64Seconds(validity));
  X509_set_pubkey(raw, key);
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(raw), "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

}  // namespace

TestAuthority::TestAuthority(const std::string& folder, const std::string& name)
    : folder_(folder), path_(absl::StrCat(folder, "/", name, ".pem")) {
  own_.key.reset(EVP_EC_gen("P-256"));
  TlsMaterial::Certificate certificate =
      Draft(name, own_.key.get(), absl::Hours(24));
  X509_set_issuer_name(certificate.get(),
                       X509_get_subject_name(certificate.get()));
  AddExtension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  CHECK_GT(X509_sign(certificate.get(), own_.key.get(), EVP_sha256()), 0);
  WriteCertificate(path_, certificate.get());
  own_.chain.push_back(std::move(certificate));
}

TlsFiles TestAuthority::Issue(const std::string& name, const std::string& names,
                              absl::Duration validity) const {
  const std::unique_ptr<EVP_PKEY, FreeKey> key(EVP_EC_gen("P-256"));
  const TlsMaterial::Certificate certificate = Draft(name, key.get(), validity);
  X509_set_issuer_name(certificate.get(),
                       X509_get_subject_name(own_.chain[0].get()));
  AddExtension(certificate.get(), NID_subject_alt_name, names);
  AddExtension(certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  CHECK_GT(X509_sign(certificate.get(), own_.key.get(), EVP_sha256()), 0);
  TlsFiles files = {.certificate = absl::StrCat(folder_, "/", name, ".pem"),
                    .key = absl::StrCat(folder_, "/", name, ".key"),
                    .authority = path_};
  WriteKey(files.key, key.get());
  WriteCertificate(files.certificate, certificate.get());
  return files;
}

}  // namespace paceline
