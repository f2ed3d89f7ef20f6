#include "coordinator/service/authorizer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/identity/mac.h"
#include "common/identity/role.h"
#include "common/identity/sha256.h"
#include "common/identity/token.h"
#include "coordinator/service/private_file.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr size_t kMaxUserBytes = 64;

absl::Status CheckUser(const std::string& user) {
  const bool is_name =
      std::all_of(user.begin(), user.end(), [](unsigned char c) {
        return absl::ascii_isalnum(c) ||
               absl::string_view("._@-").find(static_cast<char>(c)) !=
                   absl::string_view::npos;
      });
  if (is_name && !user.empty() && user.size() <= kMaxUserBytes &&
      user != kUnnamedUser) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "user: \"", PeerText(user), "\"; expected 1 to ", kMaxUserBytes,
      " letters, digits, dots, dashes, underscores and @, and not \"",
      kUnnamedUser, "\""));
}

v1::TokenRecord AdminRecord() {
  v1::TokenRecord record;
  record.set_user("admin");
  record.set_role(v1::ROLE_ADMIN);
  return record;
}

absl::Status Unknown() {
  return absl::UnauthenticatedError(
      "the token is not known, or was revoked; expected one that `coordinator "
      "token create` made");
}

}  // namespace

v1::Role RoleFor(absl::string_view method) {
  static const auto& roles = *new std::map<absl::string_view, v1::Role>({
      {"/paceline.v1.JobService/ListJobs", v1::ROLE_VIEW},
      {"/paceline.v1.JobService/GetJob", v1::ROLE_VIEW},
      {"/paceline.v1.JobService/ReadLog", v1::ROLE_VIEW},
      {"/paceline.v1.JobService/ListMembers", v1::ROLE_VIEW},
      {"/paceline.v1.FileService/GetFile", v1::ROLE_VIEW},
      {"/paceline.v1.FileService/FindFiles", v1::ROLE_SUBMIT},
      {"/paceline.v1.FileService/PutFile", v1::ROLE_SUBMIT},
      {"/paceline.v1.JobService/SubmitJob", v1::ROLE_SUBMIT},
      // Of one's own jobs, which the service looks at.
      {"/paceline.v1.JobService/StopJob", v1::ROLE_SUBMIT},
      {"/paceline.v1.JobService/DeleteJob", v1::ROLE_SUBMIT},
      {"/paceline.v1.JobService/DrainMember", v1::ROLE_ADMIN},
      {"/paceline.v1.TokenService/CreateToken", v1::ROLE_ADMIN},
      {"/paceline.v1.TokenService/ListTokens", v1::ROLE_ADMIN},
      {"/paceline.v1.TokenService/RevokeToken", v1::ROLE_ADMIN},
  });
  const auto found = roles.find(method);
  return found == roles.end() ? v1::ROLE_UNSPECIFIED : found->second;
}

absl::StatusOr<std::unique_ptr<Authorizer>> Authorizer::Load(
    SharedQueue& queue) {
  ASSIGN_OR_RETURN(StoredTokens stored,
                   queue.Handle([](SharedQueue::Books books) {
                     return books.store.LoadTokens();
                   }));
  return std::unique_ptr<Authorizer>(new Authorizer(queue, std::move(stored)));
}

Authorizer::Authorizer(SharedQueue& queue, StoredTokens stored)
    : queue_(queue),
      tokens_(std::move(stored.tokens)),
      last_id_(stored.last_id) {}

absl::StatusOr<Person> Authorizer::Authorize(absl::string_view method,
                                             absl::string_view token,
                                             absl::Time now) {
  const std::string sha256 = Sha256Hex(token);
  MutexLock lock(mutex_);
  StoredToken* const found = Find(sha256);
  if (found == nullptr) return Unknown();
  v1::TokenRecord& record = found->record;
  const int64_t micros = absl::ToUnixMicros(now);
  if (record.expires_micros() != 0 && record.expires_micros() <= micros) {
    return absl::UnauthenticatedError(absl::StrCat(
        "token ", record.id(), " of ", record.user(), " has ended at ",
        absl::FormatTime(absl::FromUnixMicros(record.expires_micros()),
                         absl::UTCTimeZone()),
        "; expected one that `coordinator token create` made"));
  }
  const v1::Role needed = RoleFor(method);
  if (needed == v1::ROLE_UNSPECIFIED || record.role() < needed) {
    return absl::PermissionDeniedError(absl::StrCat(
        "this needs the role ",
        RoleName(needed == v1::ROLE_UNSPECIFIED ? v1::ROLE_ADMIN : needed),
        "; the token of ", record.user(), " has ", RoleName(record.role())));
  }
  const int64_t interval = absl::ToInt64Microseconds(kTokenUseInterval);
  const bool is_due = record.last_used_micros() / interval != micros / interval;
  record.set_last_used_micros(micros);
  if (is_due) {
    const absl::Status stored = Store(*found);
    LOG_IF(WARNING, !stored.ok())
        << "the use of a token was not stored: " << stored.message();
  }
  return Person{record.user(), record.role() == v1::ROLE_ADMIN};
}

absl::StatusOr<v1::CreateTokenResponse> Authorizer::Create(
    const v1::CreateTokenRequest& request, absl::Time now) {
  RETURN_IF_ERROR(CheckUser(request.user()));
  if (request.role() < v1::ROLE_VIEW || request.role() > v1::ROLE_ADMIN) {
    return absl::InvalidArgumentError(
        absl::StrCat("role: ", request.role(),
                     "; expected ROLE_VIEW, ROLE_SUBMIT or ROLE_ADMIN"));
  }
  const int64_t created = absl::ToUnixMicros(now);
  if (request.lifetime_micros() < 0 ||
      request.lifetime_micros() > INT64_MAX - created) {
    return absl::InvalidArgumentError(
        absl::StrCat("lifetime_micros: ", request.lifetime_micros(),
                     "; expected at least 0, and an end that can be told"));
  }
  v1::TokenRecord record;
  record.set_user(request.user());
  record.set_role(request.role());
  if (request.lifetime_micros() != 0) {
    record.set_expires_micros(created + request.lifetime_micros());
  }
  v1::CreateTokenResponse response;
  response.set_token(DrawToken());
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(*response.mutable_record(),
                   Enter(response.token(), std::move(record), now));
  return response;
}

v1::ListTokensResponse Authorizer::List() const {
  MutexLock lock(mutex_);
  v1::ListTokensResponse response;
  for (const StoredToken& token : tokens_) {
    *response.add_tokens() = token.record;
  }
  return response;
}

absl::Status Authorizer::Revoke(uint64_t id) {
  MutexLock lock(mutex_);
  const auto token = std::find_if(
      tokens_.begin(), tokens_.end(),
      [&](const StoredToken& each) { return each.record.id() == id; });
  if (token == tokens_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no token ", id));
  }
  if (id == given_id_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "token ", id,
        " is that of the coordinator's --admin-token-file; expected another "
        "token in that file, and a new start of the coordinator"));
  }
  RETURN_IF_ERROR(queue_.Handle(
      [&](SharedQueue::Books books) { return books.store.RemoveToken(id); }));
  LOG(INFO) << "token " << id << " of " << token->record.user()
            << " is revoked";
  tokens_.erase(token);
  return absl::OkStatus();
}

absl::StatusOr<bool> Authorizer::WriteFirst(const std::string& path,
                                            absl::Time now) {
  MutexLock lock(mutex_);
  if (last_id_ != 0) return false;
  const std::string token = DrawToken();
  // The file first: without it nobody would have the token.
  RETURN_IF_ERROR(WritePrivateFile(path, absl::StrCat(token, "\n")));
  RETURN_IF_ERROR(Enter(token, AdminRecord(), now).status());
  return true;
}

absl::Status Authorizer::EnterGiven(absl::string_view token, absl::Time now) {
  MutexLock lock(mutex_);
  v1::TokenRecord record;
  if (const StoredToken* const found = Find(Sha256Hex(token))) {
    record = found->record;
    if (record.role() != v1::ROLE_ADMIN || record.expires_micros() != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "this is token ", record.id(), " of ", record.user(),
          ", with the role ", RoleName(record.role()),
          record.expires_micros() == 0 ? "" : " and an end",
          "; expected one of its own, or an admin's without an end"));
    }
  } else {
    ASSIGN_OR_RETURN(record, Enter(token, AdminRecord(), now));
  }
  given_id_ = record.id();
  return absl::OkStatus();
}

StoredToken* Authorizer::Find(absl::string_view sha256) {
  // All of them, so that the time tells nothing.
  StoredToken* found = nullptr;
  for (StoredToken& each : tokens_) {
    if (IsSameMac(each.sha256, sha256)) found = &each;
  }
  return found;
}

absl::StatusOr<v1::TokenRecord> Authorizer::Enter(absl::string_view token,
                                                  v1::TokenRecord record,
                                                  absl::Time now) {
  if (tokens_.size() >= kMaxTokens) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", tokens_.size(),
                     " tokens, which is the most; expected that some are "
                     "revoked"));
  }
  record.set_id(last_id_ + 1);
  record.set_created_micros(absl::ToUnixMicros(now));
  StoredToken stored = {std::move(record), Sha256Hex(token)};
  RETURN_IF_ERROR(Store(stored));
  last_id_ = stored.record.id();
  LOG(INFO) << "token " << last_id_ << " is " << stored.record.user()
            << "'s, with the role " << RoleName(stored.record.role());
  return tokens_.emplace_back(std::move(stored)).record;
}

absl::Status Authorizer::Store(const StoredToken& token) {
  return queue_.Handle(
      [&](SharedQueue::Books books) { return books.store.StoreToken(token); });
}

}  // namespace paceline
