// The leader's RPC service: an adapter from calls to events of the session.
#ifndef PACELINE_COMMON_SESSION_LEADER_COORDINATOR_SERVICE_H_
#define PACELINE_COMMON_SESSION_LEADER_COORDINATOR_SERVICE_H_

#include "common/rpc/rpc_service.h"
#include "common/session/leader/shared_session.h"

namespace paceline {

// Thread-safe. No handler blocks: calls that wait for work are parked in the
// shared session, for limits::kLongPoll at most.
class CoordinatorService : public RpcService {
 public:
  // `session` must outlive the service.
  explicit CoordinatorService(SharedSession& session);

 private:
  void AddWaitingCalls();
  void AddReports();

  SharedSession& session_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_COORDINATOR_SERVICE_H_
