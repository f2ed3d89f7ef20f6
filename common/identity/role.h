// The roles of the people who call a service, by name.
#ifndef PACELINE_COMMON_IDENTITY_ROLE_H_
#define PACELINE_COMMON_IDENTITY_ROLE_H_

#include <map>
#include <string>

#include "paceline/v1/service.pb.h"

namespace paceline {

// "view", "submit", "admin".
const std::map<std::string, v1::Role>& Roles();

// The name of a role; the number of one that has none.
std::string RoleName(v1::Role role);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_ROLE_H_
