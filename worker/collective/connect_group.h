// From the addresses of a group's ranks to a transport between them.
//
// Each rank connects to those of higher rank and takes the connections of those
// of lower rank, so rank 0 need not listen. Both ends say who they are, and
// prove that they belong to the job (handshake.h); whoever is not the expected
// incarnation of a rank is turned away. Then the ranks agree on how data
// travels:
//
//   shared memory   if every rank can map the regions of all others: it finds
//                   them as /proc/PID/fd/N, so the same kernel, user and
//                   namespace of processes is needed, and nothing has a name
//   sockets         otherwise, over the connections that are there
#ifndef PACELINE_WORKER_COLLECTIVE_CONNECT_GROUP_H_
#define PACELINE_WORKER_COLLECTIVE_CONNECT_GROUP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/identity/job_identity.h"
#include "common/identity/job_secret.h"
#include "common/net/listener.h"
#include "common/shared_memory/shared_region.h"
#include "worker/collective/transport.h"

namespace paceline {

struct GroupPeer {
  // "worker-2 at 10.0.0.3:2222", for errors.
  std::string name;
  // "host:port"; unused of rank 0.
  std::string address;
  uint64_t incarnation = 0;
};

struct GroupOptions {
  int rank = 0;
  // By rank, this one too.
  std::vector<GroupPeer> peers;
  // What all ranks have in common, and prove to each other if there is a
  // secret.
  JobIdentity job;
  std::optional<JobSecret> secret;
  // Until all are connected.
  absl::Duration connect_timeout;
  // How long a rank waits later for another one that does nothing.
  absl::Duration timeout;
  // Whether shared memory is tried.
  bool use_shared_memory = true;
  // This rank's region there, if messages lie in it; null: it is made.
  std::shared_ptr<const SharedRegion> region;
  // See SharedMemoryOptions.
  absl::Duration spin;
};

// Blocks. `listener` may be null for rank 0. DeadlineExceeded names the ranks
// that did not answer, and blames one (blamed_rank.h); ResourceExhausted if
// this rank had no descriptor left to let them in.
absl::StatusOr<std::unique_ptr<Transport>> ConnectGroup(
    const GroupOptions& options, const Listener* listener);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_CONNECT_GROUP_H_
