// The coordinator of a service: what `coordinator serve` runs.
#ifndef PACELINE_COORDINATOR_SERVICE_SERVICE_SERVER_H_
#define PACELINE_COORDINATOR_SERVICE_SERVICE_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ticker.h"
#include "common/identity/job_secret.h"
#include "common/rpc/health_service.h"
#include "common/rpc/rpc_server.h"
#include "common/rpc/tls.h"
#include "coordinator/service/authorizer.h"
#include "coordinator/service/daemon_service.h"
#include "coordinator/service/file_service.h"
#include "coordinator/service/housekeeper.h"
#include "coordinator/service/job_service.h"
#include "coordinator/service/progress_board.h"
#include "coordinator/service/shared_queue.h"
#include "coordinator/service/token_service.h"
#include "coordinator/store/file_store.h"
#include "coordinator/store/log_store.h"

namespace paceline {

struct ServiceServerOptions {
  // "host:port"; port 0 picks a free port.
  std::string listen_address;
  // Its folder: the queue's database, files of jobs, and logs of tasks. It is
  // created if need be.
  std::string store_folder;
  std::string version;
  // What daemons prove to know, and people without a token; nullopt: anybody
  // may call.
  std::optional<JobSecret> secret;
  // With a secret: the token of an admin; "": the first start makes one.
  std::string admin_token;
  // Of the connections to it; null: they are plain.
  std::shared_ptr<const Tls> tls;
  FileStoreOptions files;
  LogStoreOptions logs;
  RetentionLimits retention;
  Quotas quotas;
  // Of all users.
  int max_queued = JobQueueOptions().max_queued;
  // In bytes a second, of each user with a token; above 0.
  uint64_t max_upload_rate = kAnyUploadRate;
};

// It may die at any moment: another one with the same store goes on.
class ServiceServer {
 public:
  // Serves from now on. The error names the folder or the address.
  static absl::StatusOr<std::unique_ptr<ServiceServer>> Start(
      const ServiceServerOptions& options);
  ~ServiceServer();

  int port() const { return server_->port(); }

  // The file with the first admin's token, if this server has made it: the
  // service has a secret and was given no token, and its store never had one.
  const std::string& first_token_path() const { return first_token_path_; }

  // Blocks until `interrupted` returns true, or the store fails, which is the
  // error.
  absl::Status Run(const std::function<bool()>& interrupted);

 private:
  ServiceServer(const ServiceServerOptions& options, std::string key,
                std::unique_ptr<SharedQueue> queue,
                std::unique_ptr<FileStore> files,
                std::unique_ptr<LogStore> logs,
                std::unique_ptr<Authorizer> authorizer);

  // Has the service know an admin.
  absl::Status EnterAdmin(const ServiceServerOptions& options);

  const std::unique_ptr<FileStore> files_;
  const std::unique_ptr<LogStore> logs_;
  const std::unique_ptr<SharedQueue> queue_;
  const std::unique_ptr<Authorizer> authorizer_;
  Housekeeper housekeeper_;
  ProgressBoard progress_;
  DaemonService daemons_;
  FileService file_service_;
  JobService jobs_;
  TokenService tokens_;
  HealthService health_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<Ticker> sweeper_;
  // Null: jobs are kept for ever.
  std::unique_ptr<Ticker> forgetter_;
  std::string first_token_path_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_SERVICE_SERVER_H_
