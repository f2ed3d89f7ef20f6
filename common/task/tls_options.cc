#include "common/task/tls_options.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"

namespace paceline {

void AddTlsOptions(CLI::App& app, TlsFiles& files) {
  app.add_option(
      kTlsCertificateOption, files.certificate,
      "PEM file with this process's certificate, for TLS on every "
      "connection, authenticated both ways; it is read again when it "
      "changes, as are the two below.");
  app.add_option(kTlsKeyOption, files.key,
                 "PEM file with the certificate's private key.");
  app.add_option(kTlsAuthorityOption, files.authority,
                 "PEM file with the authority that signs the certificates of "
                 "all processes.");
}

std::vector<std::string> TlsArguments(const TlsFiles& files) {
  if (files.empty()) return {};
  return {absl::StrCat(kTlsCertificateOption, "=", files.certificate),
          absl::StrCat(kTlsKeyOption, "=", files.key),
          absl::StrCat(kTlsAuthorityOption, "=", files.authority)};
}

}  // namespace paceline
