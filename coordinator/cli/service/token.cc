// `coordinator token`: makes, lists and revokes the tokens of a service.

#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/option_text.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/base/unexpected_value.h"
#include "common/identity/role.h"
#include "coordinator/cli/service/json_views.h"
#include "coordinator/cli/service/output_format.h"
#include "coordinator/cli/service/service_verb.h"
#include "coordinator/cli/service/table.h"
#include "coordinator/cli/service/views.h"

namespace paceline {
namespace {

class TokenVerb : public ServiceVerb {
 public:
  const char* name() const override { return "token"; }
  const char* help() const override {
    return "Makes, lists and revokes the tokens by which a service knows "
           "people.";
  }
  void AddTo(CLI::App& app) override {
    app.require_subcommand(1);
    AddCreate(app);
    list_ = app.add_subcommand("list", "Lists the tokens, without their text.");
    AddFormat(*list_, {"table", "json", "yaml"}, list_format_);
    revoke_ = app.add_subcommand("revoke", "Ends a token at once.");
    revoke_->add_option("ID", id_, "Its number, as `list` shows it.")
        ->required();
    // The options of the connection are those of `token`.
    for (CLI::App* each : {create_, list_, revoke_}) each->fallthrough();
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    if (create_->parsed()) return Create(context);
    if (list_->parsed()) return List(context);
    return Revoke(context);
  }

 private:
  void AddCreate(CLI::App& app) {
    create_ = app.add_subcommand(
        "create",
        "Makes a token and prints it, this once: the service keeps "
        "its SHA-256 only.");
    create_->add_option("--user", user_, "Whose it is.")->required();
    create_
        ->add_option("--role", role_,
                     "view: see everything; submit: also submit jobs, and stop "
                     "and delete one's own; admin: everything.")
        ->required()
        ->check(CLI::IsMember(Roles()));
    create_->add_option("--expires", expires_,
                        "It ends after this time: 12h, 30d; default never.");
    AddFormat(*create_, {"text", "json"}, create_format_);
  }

  absl::StatusOr<int> Create(const VerbContext& context) {
    v1::CreateTokenRequest request;
    request.set_user(user_);
    request.set_role(Roles().at(role_));
    if (!expires_.empty()) {
      ASSIGN_OR_RETURN(const absl::Duration lifetime,
                       ParseDuration("--expires", expires_));
      if (lifetime < absl::Seconds(1)) {
        return UnexpectedValue("--expires", expires_, "at least 1s");
      }
      request.set_lifetime_micros(absl::ToInt64Microseconds(lifetime));
    }
    ASSIGN_OR_RETURN(const v1::CreateTokenResponse response,
                     context.client.CreateToken(request));
    if (create_format_ == "json") {
      nlohmann::ordered_json json = TokenJson(response.record());
      json["token"] = response.token();
      context.out << ObjectText("json", json);
      return kSuccess;
    }
    context.out << PeerText(response.token()) << "\n";
    context.messages << "token " << response.record().id() << " is shown only "
                     << "now; keep it in a file that only its user can read "
                     << "(--token-file)\n";
    return kSuccess;
  }

  absl::StatusOr<int> List(const VerbContext& context) {
    ASSIGN_OR_RETURN(const v1::ListTokensResponse response,
                     context.client.ListTokens({}));
    const std::vector<v1::TokenRecord> tokens(response.tokens().begin(),
                                              response.tokens().end());
    if (list_format_ == "table") {
      context.out << TableText(TokenRows(tokens, absl::Now()));
      return kSuccess;
    }
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const v1::TokenRecord& token : tokens)
      json.push_back(TokenJson(token));
    context.out << ObjectText(list_format_, json);
    return kSuccess;
  }

  absl::StatusOr<int> Revoke(const VerbContext& context) {
    v1::RevokeTokenRequest request;
    request.set_id(id_);
    const absl::Status status = context.client.RevokeToken(request).status();
    if (absl::IsNotFound(status)) {
      return absl::NotFoundError(
          absl::StrCat(context.client.description(), " has no token ", id_));
    }
    RETURN_IF_ERROR(status);
    return kSuccess;
  }

  CLI::App* create_ = nullptr;
  CLI::App* list_ = nullptr;
  CLI::App* revoke_ = nullptr;
  std::string user_;
  std::string role_;
  std::string expires_;
  std::string create_format_ = "text";
  std::string list_format_ = "table";
  uint64_t id_ = 0;
};

}  // namespace

std::unique_ptr<ServiceVerb> MakeTokenVerb() {
  return std::make_unique<TokenVerb>();
}

}  // namespace paceline
