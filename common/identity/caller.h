// The identity of this process in calls to other tasks.
#ifndef PACELINE_COMMON_IDENTITY_CALLER_H_
#define PACELINE_COMMON_IDENTITY_CALLER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/base/mutex.h"
#include "common/identity/job_identity.h"
#include "common/identity/job_secret.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

class Tls;

// Creates the header of each call (proto/paceline/v1/call.proto). A process has
// one Caller for all its channels. Thread-safe.
class Caller {
 public:
  // Without a secret, calls have no proof. `tls`: of the connections that carry
  // the calls; null: they are plain. `token`: what a person shows; "": none. It
  // travels as it is, so give one only to a caller of loopback or over TLS.
  Caller(v1::Task task, uint64_t incarnation, std::optional<JobSecret> secret,
         std::shared_ptr<const Tls> tls = nullptr, std::string token = "");

  // Sets the job, once the task has learnt it.
  void SetJob(const JobIdentity& job);
  JobIdentity job() const;

  const std::optional<JobSecret>& secret() const { return secret_; }
  const std::shared_ptr<const Tls>& tls() const { return tls_; }

  // The serialised header of call number `sequence` over a connection with
  // `challenge`. If `challenge` is "" (unknown), the header has no proof.
  std::string Header(absl::string_view method, uint64_t sequence,
                     absl::string_view challenge) const;

 private:
  const v1::Task task_;
  const uint64_t incarnation_;
  const std::optional<JobSecret> secret_;
  const std::shared_ptr<const Tls> tls_;
  const std::string token_;
  mutable Mutex mutex_;
  JobIdentity job_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_CALLER_H_
