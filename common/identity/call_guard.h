// Decides which calls a server accepts: those for its job, by callers that
// prove that they know the job's secret. Of a service, also those of people
// with a token.
//
// The proof is a challenge-response protocol (proto/paceline/v1/call.proto).
// The guard derives each connection's challenge from the connection's name and
// a random key, so it stores nothing about strangers. It stores only sequence
// numbers of proven calls, and to make it store them a peer needs the secret.
#ifndef PACELINE_COMMON_IDENTITY_CALL_GUARD_H_
#define PACELINE_COMMON_IDENTITY_CALL_GUARD_H_

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/identity/call_header.h"
#include "common/identity/job_identity.h"
#include "common/identity/job_secret.h"
#include "common/identity/person.h"
#include "paceline/v1/call.pb.h"

namespace paceline {

// Who may call a method.
enum class Access {
  // Tasks of the server's job, which prove it.
  kMembers,
  // Tasks with the job's secret, also before they know the job.
  kNewcomers,
  // Newcomers, and people who show a token instead of a proof.
  kPeople,
  // Anybody, without a header: methods that cost and tell next to nothing.
  kAnybody,
};

// Open calls per address of each method that anybody may call: the probes of a
// machine ask one at a time. By method, so that calls which stay open leave
// room for short ones.
inline constexpr int kMaxUnprovenCalls = 8;

// Open calls of one person: several programs of theirs may wait.
inline constexpr int kMaxCallsPerPerson = 256;

// Thread-safe. Must outlive the calls that it admits.
class CallGuard {
 public:
  // Without a secret no proof is required. A token that is shown is always
  // checked by `check_token`, if there is one.
  explicit CallGuard(std::optional<JobSecret> secret,
                     TokenCheck check_token = nullptr);

  // Sets the server's job. Before that all calls of members are refused with
  // Unavailable.
  void SetJob(const JobIdentity& job);

  // An admitted call, which counts as open until this object is destroyed.
  class Admission {
   public:
    Admission(CallGuard& guard, std::string caller, Person person)
        : guard_(guard),
          caller_(std::move(caller)),
          person_(std::move(person)) {}
    ~Admission() { guard_.End(caller_); }
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    // Who calls a method that is for people.
    const Person& person() const { return person_; }

   private:
    CallGuard& guard_;
    const std::string caller_;
    const Person person_;
  };

  // A call of `method` arrived over the connection `peer` (gRPC's name), with
  // `header` in its metadata. Errors:
  //  * InvalidArgument: the header is malformed or for another method.
  //  * Unauthenticated: there is no valid proof. The server must send
  //    Challenge() to the caller.
  //  * PermissionDenied: the call is for another job or generation, or not
  //    allowed to the token's owner.
  //  * Unavailable: the server does not know its own job yet, or the caller has
  //    too many open calls. The same call may succeed later.
  absl::StatusOr<std::unique_ptr<Admission>> Admit(absl::string_view peer,
                                                   absl::string_view method,
                                                   absl::string_view header,
                                                   Access access);

  // The challenge for callers over this connection.
  std::string Challenge(absl::string_view peer) const;

 private:
  // The sequence numbers that a connection has used: the highest, and a bit
  // mask of those just below it, since concurrent calls may arrive out of
  // order.
  struct Sequences {
    uint64_t highest = 0;
    std::bitset<256> taken;
    absl::Time last_used;
  };

  absl::Status CheckProof(absl::string_view peer,
                          const ReceivedHeader& received, Access access);
  absl::Status TakeSequence(absl::string_view peer, uint64_t sequence);
  absl::Status CheckJob(const v1::CallHeader& header, absl::string_view peer,
                        Access access);
  absl::StatusOr<std::unique_ptr<Admission>> Begin(std::string caller,
                                                   int max_open, Person person);
  void End(const std::string& caller);

  // Whether the server is a service's: its callers show tokens or its secret.
  bool is_service() const { return check_token_ != nullptr; }

  const std::optional<JobSecret> secret_;
  const TokenCheck check_token_;
  const std::string challenge_key_;
  Mutex mutex_;
  JobIdentity job_ ABSL_GUARDED_BY(mutex_);
  // By connection.
  std::map<std::string, Sequences, std::less<>> sequences_
      ABSL_GUARDED_BY(mutex_);
  // Number of open calls by caller.
  std::map<std::string, int> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_CALL_GUARD_H_
