// Tokens of people.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "tests/unit/service_cli/service_verbs_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using TokenVerbTest = ServiceVerbsTest;

TEST_F(TokenVerbTest, ATokenIsPrintedAloneAndOnce) {
  EXPECT_EQ(Run(MakeTokenVerb(), {"create", "--user", "ann", "--role", "submit",
                                  "--expires", "30d"}),
            0)
      << error_;
  EXPECT_EQ(out_.str(), "paceline_0123\n");
  EXPECT_THAT(messages_.str(), AllOf(HasSubstr("token 1 is shown only now"),
                                     Not(HasSubstr("paceline_0123"))));
  EXPECT_EQ(tokens_.asked.user(), "ann");
  EXPECT_EQ(tokens_.asked.role(), v1::ROLE_SUBMIT);
  EXPECT_EQ(tokens_.asked.lifetime_micros(),
            absl::ToInt64Microseconds(absl::Hours(30 * 24)));

  EXPECT_EQ(Run(MakeTokenVerb(),
                {"create", "--user", "eve", "--role", "admin", "-o", "json"}),
            0)
      << error_;
  const nlohmann::json json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["token"], "paceline_0123");
  EXPECT_EQ(json["id"], 2);
  EXPECT_EQ(json["role"], "admin");
  EXPECT_TRUE(json["expires"].is_null());
  EXPECT_EQ(tokens_.asked.lifetime_micros(), 0);

  EXPECT_EQ(Run(MakeTokenVerb(), {"create", "--user", "eve", "--role", "view",
                                  "--expires", "soon"}),
            2);
  EXPECT_THAT(std::string(error_.message()), HasSubstr("--expires"));
}

TEST_F(TokenVerbTest, TokensAreListedAndRevoked) {
  v1::TokenRecord token;
  token.set_id(1);
  token.set_user("ann");
  token.set_role(v1::ROLE_VIEW);
  token.set_created_micros(absl::ToUnixMicros(absl::Now() - absl::Hours(50)));
  token.set_expires_micros(absl::ToUnixMicros(absl::Now() - absl::Hours(1)));
  tokens_.records = {token};
  EXPECT_EQ(Run(MakeTokenVerb(), {"list"}), 0) << error_;
  EXPECT_EQ(out_.str(),
            "ID  USER  ROLE  CREATED   USED  EXPIRES\n"
            "1   ann   view  2d2h ago  -     over\n");
  EXPECT_EQ(Run(MakeTokenVerb(), {"list", "-o", "json"}), 0) << error_;
  EXPECT_EQ(nlohmann::json::parse(out_.str())[0]["user"], "ann");
  EXPECT_EQ(Run(MakeTokenVerb(), {"list", "-o", "yaml"}), 0) << error_;
  EXPECT_THAT(out_.str(), HasSubstr("role: view"));

  EXPECT_EQ(Run(MakeTokenVerb(), {"revoke", "1"}), 0) << error_;
  EXPECT_EQ(Run(MakeTokenVerb(), {"revoke", "7"}), 2);
  EXPECT_THAT(std::string(error_.message()), HasSubstr("has no token 7"));
  EXPECT_THAT(tokens_.revoked, ElementsAre(1, 7));
}

}  // namespace
}  // namespace paceline
