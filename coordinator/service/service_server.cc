#include "coordinator/service/service_server.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/identity/call_guard.h"
#include "common/net/listener.h"
#include "common/rpc/incarnation.h"
#include "coordinator/store/queue_store.h"

namespace paceline {
namespace {

constexpr absl::Duration kLoopInterval = absl::Milliseconds(50);
// Calls write to the disk, so more of them may be at work than there are cores.
constexpr int kThreads = 4;
// Of gRPC, for connections and requests: above this it accepts no more. Some
// 50 KiB a connection.
constexpr size_t kMemoryBytes = 768 << 20;
constexpr absl::Duration kSweepInterval = absl::Minutes(10);
constexpr absl::Duration kSweepAge = absl::Hours(1);

// Between two looks for jobs that are no longer kept.
absl::Duration ForgetInterval(const RetentionLimits& limits) {
  return std::clamp(limits.age / 10, absl::Milliseconds(100),
                    absl::Duration(absl::Seconds(30)));
}

// Deletes the logs of jobs that an earlier coordinator has deleted.
absl::Status RemoveOldLogs(SharedQueue& queue, LogStore& logs) {
  return queue.Handle([&](SharedQueue::Books books) {
    std::set<std::string> ids;
    for (const v1::JobRecord* job : books.queue.Jobs()) ids.insert(job->id());
    return logs.RemoveAllBut(ids);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServiceServer>> ServiceServer::Start(
    const ServiceServerOptions& options) {
  const std::string& folder = options.store_folder;
  RETURN_IF_ERROR(MakeDirectories(folder));
  ASSIGN_OR_RETURN(std::unique_ptr<QueueStore> store,
                   QueueStore::Open(absl::StrCat(folder, "/queue.db")));
  ASSIGN_OR_RETURN(
      std::unique_ptr<FileStore> files,
      FileStore::Open(absl::StrCat(folder, "/files"), options.files));
  ASSIGN_OR_RETURN(std::unique_ptr<LogStore> logs,
                   LogStore::Open(absl::StrCat(folder, "/logs"), options.logs));
  ASSIGN_OR_RETURN(std::string key, store->MasterKey());
  JobQueueOptions queue_options;
  queue_options.incarnation = DrawIncarnation();
  queue_options.version = options.version;
  queue_options.quotas = options.quotas;
  queue_options.max_queued = options.max_queued;
  ASSIGN_OR_RETURN(std::unique_ptr<SharedQueue> queue,
                   SharedQueue::Open(queue_options, std::move(store)));
  RETURN_IF_ERROR(RemoveOldLogs(*queue, *logs));
  ASSIGN_OR_RETURN(std::unique_ptr<Authorizer> authorizer,
                   Authorizer::Load(*queue));
  ASSIGN_OR_RETURN(Listener listener, Listener::Open(options.listen_address));
  std::unique_ptr<ServiceServer> server(new ServiceServer(
      options, std::move(key), std::move(queue), std::move(files),
      std::move(logs), std::move(authorizer)));
  // Without a secret whoever reaches the service is an admin anyway.
  if (options.secret) RETURN_IF_ERROR(server->EnterAdmin(options));
  RpcServerOptions rpc;
  rpc.guard = std::make_shared<CallGuard>(
      options.secret, [authorizer = server->authorizer_.get()](
                          absl::string_view method, absl::string_view token) {
        return authorizer->Authorize(method, token, absl::Now());
      });
  rpc.services = {&server->daemons_, &server->file_service_, &server->jobs_,
                  &server->tokens_, &server->health_};
  rpc.memory_bytes = kMemoryBytes;
  rpc.thread_count = kThreads;
  rpc.keepalive = kServiceKeepalive;
  rpc.tls = options.tls;
  ASSIGN_OR_RETURN(server->server_, RpcServer::Start(std::move(listener), rpc));
  server->sweeper_ = std::make_unique<Ticker>(
      kSweepInterval,
      [raw = server.get()] { raw->housekeeper_.SweepFiles(kSweepAge); });
  if (!options.retention.KeepsAll()) {
    server->forgetter_ = std::make_unique<Ticker>(
        ForgetInterval(options.retention),
        [raw = server.get()] { raw->housekeeper_.ForgetJobs(); });
  }
  return server;
}

ServiceServer::ServiceServer(const ServiceServerOptions& options,
                             std::string key,
                             std::unique_ptr<SharedQueue> queue,
                             std::unique_ptr<FileStore> files,
                             std::unique_ptr<LogStore> logs,
                             std::unique_ptr<Authorizer> authorizer)
    : files_(std::move(files)),
      logs_(std::move(logs)),
      queue_(std::move(queue)),
      authorizer_(std::move(authorizer)),
      housekeeper_(options.retention, *queue_, *files_, *logs_),
      daemons_(std::move(key), *queue_, *files_, *logs_, progress_),
      file_service_(*files_, options.max_upload_rate),
      jobs_(options.version, *queue_, *files_, *logs_, progress_),
      tokens_(*authorizer_, options.secret.has_value()) {}

absl::Status ServiceServer::EnterAdmin(const ServiceServerOptions& options) {
  if (!options.admin_token.empty()) {
    return Annotate(authorizer_->EnterGiven(options.admin_token, absl::Now()),
                    "--admin-token-file");
  }
  const std::string path = absl::StrCat(options.store_folder, "/admin.token");
  ASSIGN_OR_RETURN(const bool is_new,
                   authorizer_->WriteFirst(path, absl::Now()));
  if (is_new) first_token_path_ = path;
  return absl::OkStatus();
}

ServiceServer::~ServiceServer() {
  sweeper_.reset();
  forgetter_.reset();
  queue_->EndWaits();
  server_.reset();
}

absl::Status ServiceServer::Run(const std::function<bool()>& interrupted) {
  while (!interrupted()) {
    RETURN_IF_ERROR(queue_->failure());
    health_.Beat(/*is_ready=*/true);
    absl::SleepFor(kLoopInterval);
  }
  return absl::OkStatus();
}

}  // namespace paceline
