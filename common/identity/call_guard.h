// Which calls a server takes: those of its job, by callers that prove that they
// belong to it.
//
// The proof is challenge and response: each connection has a challenge, which
// the guard derives from the connection's name and a key of its own, so that it
// remembers nothing of strangers. What it does remember, the numbers of calls
// that were proven, costs the secret to fill.
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
#include "common/identity/job_identity.h"
#include "common/identity/job_secret.h"
#include "paceline/v1/call.pb.h"

namespace paceline {

// Thread-safe. Outlives the calls that it admits.
class CallGuard {
 public:
  // Without a secret no proof is asked for.
  explicit CallGuard(std::optional<JobSecret> secret);

  // Whom the server works for; before it is set all calls but those that may
  // come without a job are refused with Unavailable.
  void SetJob(const JobIdentity& job);

  // A call that was admitted; it counts as open until this is gone.
  class Admission {
   public:
    Admission(CallGuard& guard, std::string caller)
        : guard_(guard), caller_(std::move(caller)) {}
    ~Admission() { guard_.End(caller_); }
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

   private:
    CallGuard& guard_;
    const std::string caller_;
  };

  // A call of `method`, whose metadata has `header`, came over the connection
  // named `peer`, as gRPC names it. `needs_job` is false for a call that a task
  // makes before it knows its job.
  //   InvalidArgument    the header cannot be read, or is of another method
  //   Unauthenticated    there is no valid proof; the caller is told
  //   challenge() PermissionDenied   the call is for another job or generation
  //   Unavailable        the server does not know its own job yet, or the
  //   caller
  //                      has too many open calls: the same call may pass later
  absl::StatusOr<std::unique_ptr<Admission>> Admit(absl::string_view peer,
                                                   absl::string_view method,
                                                   absl::string_view header,
                                                   bool needs_job);

  // What a caller over this connection is to prove with.
  std::string Challenge(absl::string_view peer) const;

 private:
  // The numbers of a connection's calls that were proven: the highest, and
  // which of those just below it. Calls overtake each other by a few.
  struct Sequences {
    uint64_t highest = 0;
    std::bitset<256> taken;
    absl::Time last_used;
  };

  absl::Status CheckProof(absl::string_view peer, absl::string_view content,
                          absl::string_view mac, uint64_t sequence);
  absl::Status TakeSequence(absl::string_view peer, uint64_t sequence);
  absl::Status CheckJob(const v1::CallHeader& header, absl::string_view peer,
                        bool needs_job);
  absl::StatusOr<std::unique_ptr<Admission>> Begin(std::string caller,
                                                   int max_open);
  void End(const std::string& caller);

  const std::optional<JobSecret> secret_;
  const std::string challenge_key_;
  Mutex mutex_;
  JobIdentity job_ ABSL_GUARDED_BY(mutex_);
  // By connection.
  std::map<std::string, Sequences, std::less<>> sequences_
      ABSL_GUARDED_BY(mutex_);
  // Open calls by caller.
  std::map<std::string, int> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_CALL_GUARD_H_
