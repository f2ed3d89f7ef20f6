#include "common/tls/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/certificates/test_authority.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsFilesTest : public testing::Test {
 protected:
  static std::string Path(const std::string& name) {
    return absl::StrCat(testing::TempDir(), "/", name);
  }

  // The error for these files, which must be bad.
  static std::string ErrorOf(const TlsFiles& files) {
    const absl::Status status = ReadTlsFiles(files, absl::Now()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  static std::string Written(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }

  const TestAuthority authority_{testing::TempDir(), "files_ca"};
  TlsFiles good_ = authority_.Issue("files_good");
};

TEST_F(TlsFilesTest, GoodFilesAreRead) {
  const auto material = ReadTlsFiles(good_, absl::Now());
  ASSERT_TRUE(material.ok()) << material.status();
  EXPECT_EQ(material->chain.size(), 1);
  EXPECT_EQ(material->authorities.size(), 1);
}

TEST_F(TlsFilesTest, AllOrNoneAreGiven) {
  EXPECT_TRUE(TlsFiles().empty());
  good_.key.clear();
  EXPECT_FALSE(good_.empty());
  EXPECT_THAT(ErrorOf(good_), HasSubstr("--tls-key is not given"));
}

TEST_F(TlsFilesTest, AMissingFileIsNamed) {
  good_.authority = Path("none.pem");
  EXPECT_THAT(ErrorOf(good_),
              AllOf(HasSubstr("--tls-ca: "), HasSubstr(good_.authority)));
}

TEST_F(TlsFilesTest, AFileMustBePem) {
  TlsFiles files = good_;
  files.certificate = Written("empty.pem", "");
  EXPECT_THAT(ErrorOf(files),
              HasSubstr(absl::StrCat("--tls-cert: ", files.certificate,
                                     ": holds no certificate")));
  files.certificate = Written("bent.pem",
                              "-----BEGIN CERTIFICATE-----\nMIIB\n"
                              "-----END CERTIFICATE-----\n");
  EXPECT_THAT(ErrorOf(files), HasSubstr("malformed certificate"));
  files = good_;
  files.key = good_.certificate;
  EXPECT_THAT(ErrorOf(files), HasSubstr("expected a private key"));
}

TEST_F(TlsFilesTest, TheKeyMustBeTheCertificates) {
  good_.key = authority_.Issue("files_other").key;
  EXPECT_THAT(ErrorOf(good_),
              AllOf(HasSubstr("--tls-key: "), HasSubstr(good_.key),
                    HasSubstr("not the key of the certificate")));
}

TEST_F(TlsFilesTest, AnExpiredCertificateIsRefused) {
  const TlsFiles files =
      authority_.Issue("files_old", "IP:127.0.0.1", -absl::Minutes(1));
  EXPECT_THAT(ErrorOf(files),
              AllOf(HasSubstr(files.certificate), HasSubstr("expired at")));
  const absl::Status early =
      ReadTlsFiles(good_, absl::Now() - absl::Hours(48)).status();
  EXPECT_THAT(early.message(), HasSubstr("not valid before"));
}

TEST_F(TlsFilesTest, TheCertificateMustBeOneOfTheAuthority) {
  const TestAuthority other(testing::TempDir(), "files_other_ca");
  good_.authority = other.Issue("files_others").authority;
  EXPECT_THAT(ErrorOf(good_), AllOf(HasSubstr("is not one of --tls-ca"),
                                    HasSubstr(good_.authority)));
}

}  // namespace
}  // namespace paceline
