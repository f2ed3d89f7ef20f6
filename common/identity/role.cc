#include "common/identity/role.h"

#include "absl/strings/str_cat.h"

namespace paceline {

const std::map<std::string, v1::Role>& Roles() {
  static const auto& roles =
      *new std::map<std::string, v1::Role>{{"view", v1::ROLE_VIEW},
                                           {"submit", v1::ROLE_SUBMIT},
                                           {"admin", v1::ROLE_ADMIN}};
  return roles;
}

std::string RoleName(v1::Role role) {
  for (const auto& [name, each] : Roles()) {
    if (each == role) return name;
  }
  return absl::StrCat(role);
}

}  // namespace paceline
