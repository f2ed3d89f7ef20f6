#include "ps_server/ps_server.h"

#include <glog/logging.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/simd.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/rpc/rpc_server.h"
#include "ps_server/ps_service.h"
#include "ps_server/shard.h"

namespace paceline {
namespace {

// Something that happens once and can be waited for.
class Notification {
 public:
  void Notify() {
    MutexLock lock(mutex_);
    happened_ = true;
    changed_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!happened_) changed_.WaitFor(mutex_, absl::Seconds(1));
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool happened_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::Status RunPsServer(PsServerOptions options) {
  // Before gRPC starts the threads that apply gradients.
  FlushDenormals();
  Shard shard(options.member.incarnation);
  PsService service(shard);
  ASSIGN_OR_RETURN(const std::unique_ptr<RpcServer> server,
                   RpcServer::Start(options.listen_address, {&service}));
  options.member.address =
      options.advertised_address.empty()
          ? WithPort(options.listen_address, server->port())
          : options.advertised_address;
  LOG(INFO) << "listening on " << options.member.address;

  // While the leader lives, its word ends this process in order; if it is lost,
  // on_stop ends it at once.
  Notification stopped;
  const auto on_lost = options.member.on_stop;
  options.member.on_stop = [&](const absl::Status& status) {
    if (!status.ok()) on_lost(status);
    stopped.Notify();
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<Member> member,
                   Member::Join(options.member));
  stopped.Wait();
  member->Leave(absl::OkStatus());
  // A file that hangs on its disk, or a call that waits for it, keeps nobody.
  google::FlushLogFiles(google::GLOG_INFO);
  _exit(0);
}

}  // namespace paceline
