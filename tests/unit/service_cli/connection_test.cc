#include "coordinator/cli/service/connection.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/certificates/test_authority.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() {
    std::filesystem::create_directories(folder_);
    options_.config_path = folder_ + "/config.yaml";
    std::filesystem::remove(options_.config_path);
    std::ofstream(folder_ + "/lab.secret") << std::string(40, 's') << "\n";
  }

  void Write(const std::string& config) {
    std::ofstream(options_.config_path) << config;
  }
  std::string Error() {
    return std::string(FindConnection(options_).status().message());
  }

  const std::string folder_ = ::testing::TempDir() + "connection_test";
  ConnectionOptions options_;
};

constexpr char kConfig[] = R"(current-context: lab
contexts:
  lab: {address: "10.0.0.1:2222", secret-file: lab.secret}
  home: {address: "127.0.0.1:3333"}
)";

TEST_F(ConnectionTest, WithoutAnAddressAllWaysAreNamed) {
  EXPECT_EQ(Error(),
            "no coordinator is named; expected --coordinator HOST:PORT, the "
            "environment variable PACELINE_COORDINATOR, or a current-context "
            "in " +
                options_.config_path);
}

TEST_F(ConnectionTest, TheCurrentContextHasTheAddressAndTheSecret) {
  Write(kConfig);
  const auto connection = FindConnection(options_);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(connection->address, "10.0.0.1:2222");
  ASSERT_TRUE(connection->secret.has_value());
  EXPECT_EQ(connection->secret->text(), std::string(40, 's'));
}

TEST_F(ConnectionTest, OptionsComeBeforeTheEnvironmentAndThatBeforeTheFile) {
  Write(kConfig);
  options_.environment_coordinator = "e:1";
  auto connection = FindConnection(options_);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(connection->address, "e:1");
  EXPECT_FALSE(connection->secret.has_value());
  options_.context = "home";
  EXPECT_EQ(FindConnection(options_)->address, "127.0.0.1:3333");
  options_.context.clear();
  options_.coordinator = "o:1";
  options_.environment_secret_file = folder_ + "/lab.secret";
  connection = FindConnection(options_);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(connection->address, "o:1");
  EXPECT_TRUE(connection->secret.has_value());
}

TEST_F(ConnectionTest, BadAddressesAreErrorsThatNameTheirSource) {
  options_.coordinator = "a:b:c";
  EXPECT_THAT(Error(), StartsWith("--coordinator: \"a:b:c\": "));
  EXPECT_THAT(Error(), HasSubstr("expected HOST:PORT"));
  options_.coordinator = "host:0";
  EXPECT_THAT(Error(), HasSubstr("the port must be from 1 to 65535"));
  options_.coordinator.clear();
  options_.environment_coordinator = ":1";
  EXPECT_THAT(Error(), StartsWith("PACELINE_COORDINATOR: \":1\": "));
}

TEST_F(ConnectionTest, ErrorsOfTheFileNameItAndTheLine) {
  const std::string& path = options_.config_path;
  Write("current-context: lab\ncontexts:\n  lab: {adress: a:1}\n");
  EXPECT_THAT(Error(), StartsWith(path + ":3: contexts.lab"));
  EXPECT_THAT(Error(), HasSubstr("address"));
  Write("current-context: lab\ncontexts: [1]\n");
  EXPECT_THAT(Error(), StartsWith(path + ":2: contexts: expected a map"));
  Write("current-context: lab\ncontexts:\n  lab:\n    address: \"a:x\"\n");
  EXPECT_THAT(Error(), StartsWith(path + ":4: contexts.lab.address: \"a:x\""));
  Write("current-context: {");
  EXPECT_THAT(Error(), StartsWith(path + ":1: "));
  Write("current-context: lap\ncontexts: {lab: {address: a:1}}\n");
  EXPECT_THAT(Error(), HasSubstr("current-context: there is no context \"lap\""
                                 "; did you mean \"lab\"?"));
  options_.context = "x";
  Write("");
  EXPECT_THAT(Error(), HasSubstr("there is no context \"x\""));
}

TEST_F(ConnectionTest, ASecretThatCannotBeReadIsAnErrorThatNamesItsFile) {
  options_.coordinator = "a:1";
  options_.secret_file = folder_ + "/none";
  EXPECT_THAT(Error(), AllOf(HasSubstr("the service's secret"),
                             HasSubstr(folder_ + "/none")));
}

class TokenFileTest : public ConnectionTest {
 protected:
  TokenFileTest() {
    std::ofstream(folder_ + "/ann.token") << kToken << "\n";
    options_.coordinator = "127.0.0.1:2222";
  }
  const std::string kToken = "paceline_" + std::string(64, 'a');
};

TEST_F(TokenFileTest, ComesFromTheOptionTheEnvironmentOrTheContext) {
  options_.environment_token_file = folder_ + "/ann.token";
  EXPECT_EQ(FindConnection(options_)->token, kToken);
  options_.token_file = folder_ + "/none";
  EXPECT_THAT(Error(), HasSubstr(folder_ + "/none"));
  options_.token_file.clear();
  options_.environment_token_file.clear();
  options_.coordinator.clear();
  Write(
      "current-context: lab\n"
      "contexts:\n"
      "  lab: {address: \"localhost:2222\", token-file: ann.token}\n");
  const auto connection = FindConnection(options_);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(connection->token, kToken);
}

TEST_F(TokenFileTest, ThatOthersMayReadIsAWarning) {
  options_.token_file = folder_ + "/ann.token";
  chmod(options_.token_file.c_str(), 0640);
  EXPECT_THAT(FindConnection(options_)->warning,
              StartsWith(options_.token_file + ": others may read"));
  chmod(options_.token_file.c_str(), 0600);
  EXPECT_EQ(FindConnection(options_)->warning, "");
}

TEST_F(TokenFileTest, LeavesThisMachineOnlyOverTls) {
  options_.token_file = folder_ + "/ann.token";
  options_.coordinator = "10.0.0.1:2222";
  EXPECT_EQ(FindConnection(options_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Error(), HasSubstr("expected TLS"));
  EXPECT_THAT(Error(), Not(HasSubstr(kToken)));
  options_.tls = TestAuthority(folder_, "ca").Issue("ann");
  const auto connection = FindConnection(options_);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(connection->token, kToken);
}

TEST_F(TokenFileTest, AnotherFileIsNamedWithoutWhatItHas) {
  options_.token_file = folder_ + "/lab.secret";
  EXPECT_THAT(Error(), HasSubstr(folder_ + "/lab.secret: this is no token"));
  EXPECT_THAT(Error(), Not(HasSubstr("ssss")));
  std::ofstream(folder_ + "/ann.token") << kToken << "\n" << kToken << "\n";
  options_.token_file = folder_ + "/ann.token";
  EXPECT_THAT(Error(), HasSubstr("expected one line"));
}

}  // namespace
}  // namespace paceline
