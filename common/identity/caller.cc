#include "common/identity/caller.h"

#include <utility>

#include "common/identity/call_header.h"
#include "paceline/v1/call.pb.h"

namespace paceline {

Caller::Caller(v1::Task task, uint64_t incarnation,
               std::optional<JobSecret> secret, std::shared_ptr<const Tls> tls,
               std::string token)
    : task_(std::move(task)),
      incarnation_(incarnation),
      secret_(std::move(secret)),
      tls_(std::move(tls)),
      token_(std::move(token)) {}

void Caller::SetJob(const JobIdentity& job) {
  MutexLock lock(mutex_);
  job_ = job;
}

JobIdentity Caller::job() const {
  MutexLock lock(mutex_);
  return job_;
}

std::string Caller::Header(absl::string_view method, uint64_t sequence,
                           absl::string_view challenge) const {
  const JobIdentity of = job();
  v1::CallHeader header;
  header.set_job_id(of.id);
  header.set_generation(of.generation);
  *header.mutable_sender() = task_;
  header.set_incarnation(incarnation_);
  header.set_method(std::string(method));
  header.set_sequence(sequence);
  header.set_token(token_);
  std::string content = header.SerializeAsString();
  if (!secret_ || challenge.empty()) return content;
  return SignedHeader(content, secret_->ProveCall(challenge, content));
}

}  // namespace paceline
