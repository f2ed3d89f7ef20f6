// Who calls, where people call a service.
#ifndef PACELINE_COMMON_IDENTITY_PERSON_H_
#define PACELINE_COMMON_IDENTITY_PERSON_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// What every token begins with, so that people and scanners know one.
inline constexpr char kTokenPrefix[] = "paceline_";

// The user of jobs whose submitter does not say who it is. No token is of such
// a user.
inline constexpr char kUnnamedUser[] = "anybody";

struct Person {
  // "": nobody says who they are: a process that has proven the secret, or
  // anybody where there is none.
  std::string user;
  // Whether everything is allowed, also what concerns others.
  bool is_admin = false;

  // To whom jobs belong that it submits.
  const char* name() const {
    return user.empty() ? kUnnamedUser : user.c_str();
  }
};

// From the token that a call of `method` shows ("/service/Method") to its
// owner. Unauthenticated: the token is not known, or has ended.
// PermissionDenied: its role does not allow the method. Errors do not have the
// token. Must be thread-safe and short.
using TokenCheck = std::function<absl::StatusOr<Person>(
    absl::string_view method, absl::string_view token)>;

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_PERSON_H_
