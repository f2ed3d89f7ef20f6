// What daemons ask of the coordinator (proto/paceline/v1/service.proto).
#ifndef PACELINE_COORDINATOR_SERVICE_DAEMON_SERVICE_H_
#define PACELINE_COORDINATOR_SERVICE_DAEMON_SERVICE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "common/rpc/rpc_service.h"
#include "coordinator/service/progress_board.h"
#include "coordinator/service/shared_queue.h"
#include "coordinator/store/file_store.h"
#include "coordinator/store/log_store.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Size of one message about tasks, logs or outputs, in bytes.
inline constexpr size_t kMaxDaemonRequestBytes = 4 << 20;

// Thread-safe. All must outlive the service.
class DaemonService : public RpcService {
 public:
  // `key` is secret: the secrets of jobs are derived from it.
  DaemonService(std::string key, SharedQueue& queue, FileStore& files,
                LogStore& logs, ProgressBoard& progress);

 private:
  // An answer that a daemon has got.
  struct Answered {
    uint64_t incarnation = 0;
    uint64_t sequence = 0;
    // Of the serialised orders.
    std::string orders_hash;
  };

  void Sync(const v1::SyncRequest& request, v1::SyncResponse& response,
            const Done& done);
  // Adds to an order what the queue does not know of it.
  void Complete(const JobQueue& queue, v1::TaskOrder& order) const;
  // Whether the daemon has followed an answer with these orders, as its message
  // says. Remembers them if not.
  bool Knows(const JobQueue& queue, const v1::SyncRequest& request,
             const v1::SyncResponse& response, bool is_last_try);
  absl::Status GetTaskFiles(const v1::GetTaskFilesRequest& request,
                            v1::GetTaskFilesResponse& response);
  absl::Status AppendLog(const v1::AppendLogRequest& request,
                         v1::AppendLogResponse& response);
  absl::Status AddOutputs(const v1::AddOutputsRequest& request);

  const std::string key_;
  SharedQueue& queue_;
  FileStore& files_;
  LogStore& logs_;
  ProgressBoard& progress_;
  // By daemon. Used by attempts of SharedQueue only, one at a time.
  std::map<std::string, Answered> answered_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_DAEMON_SERVICE_H_
