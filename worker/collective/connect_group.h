// Connects the ranks of a group and creates their transport.
//
// Each rank connects to all higher ranks and accepts connections from all lower
// ranks, so rank 0 need not listen. Both ends say who they are, and prove that
// they belong to the job (handshake.h), over TLS if there are certificates. A
// peer that is not the expected incarnation of a rank is refused. Then the
// ranks agree on a transport:
//
//  * shared memory, if every rank can map the regions of all others. It opens
//    them as /proc/PID/fd/N, which requires the same kernel, user and PID
//    namespace. So the regions need no names in a file system.
//  * sockets otherwise, over the connections that exist.
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
#include "common/tls/tls_files.h"
#include "worker/collective/transport.h"

namespace paceline {

struct GroupPeer {
  // For errors: "worker-2 at 10.0.0.3:2222".
  std::string name;
  // "host:port"; unused for rank 0.
  std::string address;
  uint64_t incarnation = 0;
};

struct GroupOptions {
  int rank = 0;
  // All ranks, by rank, including this one.
  std::vector<GroupPeer> peers;
  // The job and its secret. All ranks must have the same, and prove it to each
  // other if there is a secret.
  JobIdentity job;
  std::optional<JobSecret> secret;
  // Of the connections between ranks; all "": they are plain. Shared memory is
  // in any case.
  TlsFiles tls;
  // How long to wait until all ranks are connected.
  absl::Duration connect_timeout;
  // How long the transport waits for a rank that makes no progress.
  absl::Duration timeout;
  // Whether to try shared memory.
  bool use_shared_memory = true;
  // This rank's shared memory, if the caller has messages in it. Null:
  // ConnectGroup creates it.
  std::shared_ptr<const SharedRegion> region;
  // See SharedMemoryOptions.
  absl::Duration spin;
};

// Blocks. `listener` may be null for rank 0. DeadlineExceeded names the ranks
// that did not connect, and blames one (blamed_rank.h). ResourceExhausted: this
// rank had no file descriptors left to accept peers.
absl::StatusOr<std::unique_ptr<Transport>> ConnectGroup(
    const GroupOptions& options, const Listener* listener);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_CONNECT_GROUP_H_
