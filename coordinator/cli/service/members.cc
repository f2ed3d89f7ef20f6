// `coordinator members` and `coordinator drain`: the daemons of a service.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/command_line/command_tree.h"
#include "coordinator/cli/service/json_views.h"
#include "coordinator/cli/service/output_format.h"
#include "coordinator/cli/service/service_verb.h"
#include "coordinator/cli/service/table.h"
#include "coordinator/cli/service/views.h"

namespace paceline {
namespace {

class MembersVerb : public ServiceVerb {
 public:
  const char* name() const override { return "members"; }
  const char* help() const override {
    return "Lists the daemons that jobs run on.";
  }
  void AddTo(CLI::App& app) override {
    AddFormat(app, {"table", "wide", "json", "yaml", "name"}, format_);
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    ASSIGN_OR_RETURN(const v1::ListMembersResponse response,
                     context.client.ListMembers({}));
    const std::vector<v1::MemberView> members(response.members().begin(),
                                              response.members().end());
    if (format_ == "name") {
      for (const v1::MemberView& member : members) {
        context.out << PeerText(member.record().name()) << "\n";
      }
    } else if (format_ == "json" || format_ == "yaml") {
      nlohmann::ordered_json json = nlohmann::ordered_json::array();
      for (const v1::MemberView& member : members) {
        json.push_back(MemberJson(member));
      }
      context.out << ObjectText(format_, json);
    } else {
      context.out << TableText(
          MemberRows(members, format_ == "wide", absl::Now()));
    }
    return kSuccess;
  }

 private:
  std::string format_ = "table";
};

class DrainVerb : public ServiceVerb {
 public:
  const char* name() const override { return "drain"; }
  const char* help() const override {
    return "Gives a daemon no new tasks; those that it has go on.";
  }
  void AddTo(CLI::App& app) override {
    app.add_option("MEMBER", member_, "The daemon's name.")
        ->required()
        ->type_name(kDaemonType);
    app.add_flag("--undo", undoes_, "It gets tasks again.");
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    v1::DrainMemberRequest request;
    request.set_name(member_);
    request.set_is_drained(!undoes_);
    const absl::Status status = context.client.DrainMember(request).status();
    if (absl::IsNotFound(status)) {
      return absl::NotFoundError(absl::StrCat(
          context.client.description(), " has no daemon ", PeerText(member_)));
    }
    RETURN_IF_ERROR(status);
    return kSuccess;
  }

 private:
  std::string member_;
  bool undoes_ = false;
};

}  // namespace

std::unique_ptr<ServiceVerb> MakeMembersVerb() {
  return std::make_unique<MembersVerb>();
}

std::unique_ptr<ServiceVerb> MakeDrainVerb() {
  return std::make_unique<DrainVerb>();
}

}  // namespace paceline
