#include "worker/peers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/cores.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/session/member_requests.h"

namespace paceline {
namespace {

// How long an idle rank looks for its peers' data before it sleeps, where every
// thread has a core: longer than a sleeping peer takes to wake up, or both end
// up waking each other each time.
constexpr absl::Duration kSpin = absl::Microseconds(200);

}  // namespace

absl::StatusOr<GroupOptions> PeerOptions(const v1::AwaitStartResponse& start,
                                         int rank, int threads) {
  GroupOptions group;
  group.rank = rank;
  for (const v1::Member& peer : start.workers()) {
    ASSIGN_OR_RETURN(const IntroducedMember caller, ReadMember(peer));
    std::string name = caller.task.ToString();
    if (!caller.address.empty()) {
      absl::StrAppend(&name, " at ", caller.address);
    }
    group.peers.push_back(
        {std::move(name), caller.address, caller.incarnation});
  }
  // Those that offered a GPU compile after the start.
  const auto& hardware = start.hardware_ids();
  const bool others_may_compile =
      std::any_of(hardware.begin(), hardware.end(),
                  [](const std::string& id) { return !id.empty(); });
  group.connect_timeout =
      others_may_compile ? limits::kStartTimeout : limits::kConnectTimeout;
  group.timeout = limits::kCollectiveTimeout;
  if (start.workers_size() * threads <= UsableCores()) group.spin = kSpin;
  return group;
}

}  // namespace paceline
