#include "common/identity/call_guard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/identity/call_header.h"
#include "common/identity/mac.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// What a caller without a valid proof should do.
absl::string_view RemedyOf(Access access, bool is_service) {
  if (access == Access::kPeople) {
    return "; expected the service's secret (--secret-file), or a person's "
           "token (--token-file), which `coordinator token create` makes";
  }
  return is_service ? "; give all daemons the service's secret (--secret-file)"
                    : "; give all tasks of the job the same secret "
                      "(--job-secret-file)";
}

// The address of a peer, "ipv4:10.0.0.2:43210", without its port.
absl::string_view AddressOf(absl::string_view peer) {
  return peer.substr(0, peer.rfind(':'));
}

// The key by which open calls are counted: the process, if it has proven its
// identity, else the peer's address.
std::string CountedAs(const v1::CallHeader& header, absl::string_view peer,
                      bool is_proven) {
  if (!is_proven) return std::string(AddressOf(peer));
  return absl::StrCat(header.sender().type(), "/", header.sender().index(), "/",
                      header.incarnation());
}

}  // namespace

CallGuard::CallGuard(std::optional<JobSecret> secret, TokenCheck check_token)
    : secret_(std::move(secret)),
      check_token_(std::move(check_token)),
      challenge_key_(RandomBytes(kMacSize)) {}

void CallGuard::SetJob(const JobIdentity& job) {
  MutexLock lock(mutex_);
  job_ = job;
}

std::string CallGuard::Challenge(absl::string_view peer) const {
  return HmacSha256(challenge_key_, peer);
}

absl::StatusOr<std::unique_ptr<CallGuard::Admission>> CallGuard::Admit(
    absl::string_view peer, absl::string_view method, absl::string_view header,
    Access access) {
  if (access == Access::kAnybody) {
    return Begin(absl::StrCat("anybody at ", AddressOf(peer), method),
                 kMaxUnprovenCalls, Person());
  }
  // A caller without a header may be a stranger, so it gets the same answer as
  // a caller without a valid proof.
  if (header.empty() && secret_) {
    return absl::UnauthenticatedError("the call has no header");
  }
  ASSIGN_OR_RETURN(const ReceivedHeader received, ReadHeader(header));
  if (received.header.method() != method) {
    return absl::InvalidArgumentError(
        absl::StrCat(kHeaderKey, ": method is not that of the call, ", method));
  }
  if (access == Access::kPeople && check_token_ != nullptr &&
      !received.header.token().empty()) {
    ASSIGN_OR_RETURN(Person person,
                     check_token_(method, received.header.token()));
    std::string caller = absl::StrCat("user ", person.user);
    return Begin(std::move(caller), kMaxCallsPerPerson, std::move(person));
  }
  RETURN_IF_ERROR(CheckProof(peer, received, access));
  RETURN_IF_ERROR(CheckJob(received.header, peer, access));
  return Begin(
      CountedAs(received.header, peer, secret_.has_value()),
      secret_ ? limits::kMaxCallsPerCaller : limits::kMaxCallsPerAddress,
      {.user = "", .is_admin = access == Access::kPeople});
}

absl::Status CallGuard::CheckProof(absl::string_view peer,
                                   const ReceivedHeader& received,
                                   Access access) {
  if (!secret_) return absl::OkStatus();
  const bool is_for_people = access == Access::kPeople;
  const absl::string_view owner =
      is_for_people || is_service() ? "service" : "job";
  const absl::string_view remedy = RemedyOf(access, is_service());
  if (received.mac.empty()) {
    return absl::UnauthenticatedError(
        is_for_people
            ? absl::StrCat("the call does not say who calls", remedy)
            : absl::StrCat("the call does not prove that it belongs to the ",
                           owner, remedy));
  }
  if (!IsSameMac(received.mac,
                 secret_->ProveCall(Challenge(peer), received.content))) {
    return absl::UnauthenticatedError(
        absl::StrCat("the call's proof was not made with this ", owner,
                     "'s secret", remedy));
  }
  return TakeSequence(peer, received.header.sequence());
}

// A sliding window against replays, as in IPsec (RFC 4303, section 3.4.3). Bit
// i of `taken` says whether the number `highest` - i was used. A number above
// `highest` moves the window up. A number that was used, or is below the
// window, is refused. So, as long as a connection is remembered, none of its
// headers is accepted twice, although concurrent calls may arrive out of order.
//
// To bound the memory, a new connection displaces the one that was idle for
// longest. The owner of that one may call again; it starts a new window.
absl::Status CallGuard::TakeSequence(absl::string_view peer,
                                     uint64_t sequence) {
  MutexLock lock(mutex_);
  auto found = sequences_.find(peer);
  if (found == sequences_.end()) {
    if (sequences_.size() >= limits::kMaxProvenConnections) {
      sequences_.erase(std::min_element(sequences_.begin(), sequences_.end(),
                                        [](const auto& a, const auto& b) {
                                          return a.second.last_used <
                                                 b.second.last_used;
                                        }));
    }
    found = sequences_.emplace(std::string(peer), Sequences()).first;
  }
  Sequences& known = found->second;
  known.last_used = MonotonicNow();
  if (sequence > known.highest) {
    const uint64_t step = sequence - known.highest;
    known.taken = step < known.taken.size() ? known.taken << step
                                            : decltype(known.taken)();
    known.highest = sequence;
  }
  const uint64_t age = known.highest - sequence;
  if (age >= known.taken.size() || known.taken[age]) {
    return absl::UnauthenticatedError(
        "the call's sequence number was used before, or is too old");
  }
  known.taken[age] = true;
  return absl::OkStatus();
}

absl::Status CallGuard::CheckJob(const v1::CallHeader& header,
                                 absl::string_view peer, Access access) {
  const JobIdentity theirs = {header.job_id(), header.generation()};
  if (access != Access::kMembers && theirs == JobIdentity())
    return absl::OkStatus();
  JobIdentity ours;
  {
    MutexLock lock(mutex_);
    ours = job_;
  }
  if (ours == JobIdentity()) {
    return absl::UnavailableError("this task has not joined its job yet");
  }
  if (theirs == ours) return absl::OkStatus();
  const std::string message =
      absl::StrCat("the call is for ", theirs.ToString(), "; this task is of ",
                   ours.ToString());
  LOG_EVERY_T(WARNING, 1) << header.method() << " from " << peer << ": "
                          << message;
  return absl::PermissionDeniedError(message);
}

absl::StatusOr<std::unique_ptr<CallGuard::Admission>> CallGuard::Begin(
    std::string caller, int max_open, Person person) {
  MutexLock lock(mutex_);
  int& open = open_[caller];
  if (open >= max_open) {
    return absl::UnavailableError(absl::StrCat(
        "the caller has ", open, " open calls; expected at most ", max_open));
  }
  ++open;
  return std::make_unique<Admission>(*this, std::move(caller),
                                     std::move(person));
}

void CallGuard::End(const std::string& caller) {
  MutexLock lock(mutex_);
  const auto found = open_.find(caller);
  if (--found->second == 0) open_.erase(found);
}

}  // namespace paceline
