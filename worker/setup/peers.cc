#include "worker/setup/peers.h"

#include <algorithm>
#include <string>

#include "common/base/cores.h"
#include "common/base/status_macros.h"
#include "common/cluster/blame.h"
#include "common/cluster/task.h"
#include "common/cluster/task_proto.h"
#include "common/limits.h"
#include "common/session/machine/member_requests.h"
#include "worker/collective/blamed_rank.h"

namespace paceline {
namespace {

// How long an idle rank spins for its peers' data before it sleeps, if every
// thread has a core. Longer than a sleeping peer takes to wake up; otherwise
// two ranks would keep putting each other to sleep.
constexpr absl::Duration kSpin = absl::Microseconds(200);

}  // namespace

absl::StatusOr<GroupOptions> PeerOptions(const v1::AwaitStartResponse& start,
                                         int rank, int threads) {
  GroupOptions group;
  group.rank = rank;
  for (const v1::Member& peer : start.workers()) {
    ASSIGN_OR_RETURN(const IntroducedMember caller, ReadMember(peer));
    group.peers.push_back({TaskName(caller.task, caller.address),
                           caller.address, caller.incarnation});
  }
  // A worker that offered a GPU compiles its programs after the start, and only
  // then connects.
  const auto& gpu_uuids = start.gpu_uuids();
  const bool others_may_compile =
      std::any_of(gpu_uuids.begin(), gpu_uuids.end(),
                  [](const std::string& uuid) { return !uuid.empty(); });
  group.connect_timeout =
      others_may_compile ? limits::kStartTimeout : limits::kConnectTimeout;
  group.timeout = limits::kCollectiveTimeout;
  if (start.workers_size() * threads <= UsableCores()) group.spin = kSpin;
  return group;
}

absl::Status BlamePeer(const v1::AwaitStartResponse& start,
                       absl::string_view waited_for,
                       const absl::Status& error) {
  const int rank = BlamedRank(error);
  if (rank < 0 || rank >= start.workers_size()) return error;
  const v1::Member& peer = start.workers(rank);
  const absl::StatusOr<TaskId> task = TaskFromProto(peer.task());
  if (!task.ok()) return error;
  return WithBlame(error, {*task, peer.address(), std::string(waited_for)});
}

}  // namespace paceline
