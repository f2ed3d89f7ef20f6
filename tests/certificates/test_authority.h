// An authority that signs certificates for tests.
#ifndef PACELINE_TESTS_CERTIFICATES_TEST_AUTHORITY_H_
#define PACELINE_TESTS_CERTIFICATES_TEST_AUTHORITY_H_

#include <string>

#include "absl/time/time.h"
#include "common/tls/tls_files.h"

namespace paceline {

class TestAuthority {
 public:
  // Draws a key, and writes the authority's certificate to <folder>/<name>.pem.
  TestAuthority(const std::string& folder, const std::string& name);

  // Issues a certificate for these names, such as "DNS:localhost,
  // IP:127.0.0.1", valid from an hour ago for `validity` from now. Writes it to
  // <name>.pem and its key to <name>.key, each replaced in one step.
  TlsFiles Issue(const std::string& name,
                 const std::string& names = "DNS:localhost,IP:127.0.0.1",
                 absl::Duration validity = absl::Hours(24)) const;

 private:
  const std::string folder_;
  const std::string path_;
  TlsMaterial own_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_CERTIFICATES_TEST_AUTHORITY_H_
