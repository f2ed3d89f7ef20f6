// The tokens of a service's people, and what each role may do.
#ifndef PACELINE_COORDINATOR_SERVICE_AUTHORIZER_H_
#define PACELINE_COORDINATOR_SERVICE_AUTHORIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/identity/person.h"
#include "coordinator/service/shared_queue.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// All that a service may have: each is compared with at each call.
inline constexpr size_t kMaxTokens = 1000;

// Where a token is used, its time is stored as often.
inline constexpr absl::Duration kTokenUseInterval = absl::Hours(1);

// The role that a method of a service for people needs, "/service/Method".
// ROLE_UNSPECIFIED: it is none of them.
v1::Role RoleFor(absl::string_view method);

// Of tokens (common/identity/token.h) only the SHA-256 are kept. Thread-safe.
// `queue` must outlive it.
class Authorizer {
 public:
  // With the tokens of the queue's store.
  static absl::StatusOr<std::unique_ptr<Authorizer>> Load(SharedQueue& queue);

  // See TokenCheck. Blocks on the disk once in kTokenUseInterval a token.
  absl::StatusOr<Person> Authorize(absl::string_view method,
                                   absl::string_view token, absl::Time now);

  // InvalidArgument names the field that is wrong; ResourceExhausted: there are
  // too many. It is stored, and taken by the next call.
  absl::StatusOr<v1::CreateTokenResponse> Create(
      const v1::CreateTokenRequest& request, absl::Time now);
  v1::ListTokensResponse List() const;
  // NotFound: there is none with this id. FailedPrecondition: it is the token
  // of EnterGiven, which would come back.
  absl::Status Revoke(uint64_t id);

  // If the store has never had a token, makes that of the first admin and
  // writes it to a file that only its user can read. Returns whether it did.
  // Errors name the file.
  absl::StatusOr<bool> WriteFirst(const std::string& path, absl::Time now);

  // Has the store have this token (common/identity/token.h) of an admin, if it
  // does not yet. InvalidArgument: it is known with another role, or ends.
  absl::Status EnterGiven(absl::string_view token, absl::Time now);

 private:
  Authorizer(SharedQueue& queue, StoredTokens stored);

  // Enters the token, with a new id.
  absl::StatusOr<v1::TokenRecord> Enter(absl::string_view token,
                                        v1::TokenRecord record, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Store(const StoredToken& token)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Null: there is no such token.
  StoredToken* Find(absl::string_view sha256)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  SharedQueue& queue_;
  mutable Mutex mutex_;
  std::vector<StoredToken> tokens_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_);
  // Of EnterGiven's token; 0: there is none.
  uint64_t given_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_AUTHORIZER_H_
