// Who this process is to those it calls.
#ifndef PACELINE_COMMON_IDENTITY_CALLER_H_
#define PACELINE_COMMON_IDENTITY_CALLER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/base/mutex.h"
#include "common/identity/job_identity.h"
#include "common/identity/job_secret.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Makes the header of each call (proto/paceline/v1/call.proto). One for a
// process and all its channels. Thread-safe.
class Caller {
 public:
  // Without a secret, calls carry no proof.
  Caller(v1::Task task, uint64_t incarnation, std::optional<JobSecret> secret);

  // The task has learnt which job it is of.
  void SetJob(const JobIdentity& job);
  JobIdentity job() const;

  const std::optional<JobSecret>& secret() const { return secret_; }

  // The serialised header of call number `sequence` over a connection that made
  // `challenge`; "": none that is known, so there is no proof.
  std::string Header(absl::string_view method, uint64_t sequence,
                     absl::string_view challenge) const;

 private:
  const v1::Task task_;
  const uint64_t incarnation_;
  const std::optional<JobSecret> secret_;
  mutable Mutex mutex_;
  JobIdentity job_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_CALLER_H_
