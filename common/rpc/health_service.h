// The health of a task, for probes such as Kubernetes' (grpc.health.v1.Health).
//
//   service            SERVING while
//   "", "liveness"     the process answers, and its main loop goes on
//   "readiness"        the task has joined its job, and can do its work
//
// Probes have no proof of the job's secret, so anybody may call: an answer says
// nothing else, and costs a look at two numbers.
#ifndef PACELINE_COMMON_RPC_HEALTH_SERVICE_H_
#define PACELINE_COMMON_RPC_HEALTH_SERVICE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/rpc/rpc_service.h"
#include "grpc/health/v1/health.pb.h"

namespace paceline {

// Size of a request in bytes: a name.
inline constexpr size_t kMaxHealthRequestBytes = 1 << 10;
// Open calls that watch, in all.
inline constexpr size_t kMaxHealthWatches = 32;
// A watch ends after this time, and its caller may call again. So those that
// nobody needs do not keep others out for ever.
inline constexpr absl::Duration kMaxHealthWatch = absl::Minutes(1);
// A process whose main loop stands still for this long does not live. A loop
// may write a manifest on a slow disk.
inline constexpr absl::Duration kMainLoopTimeout = absl::Seconds(20);

// Thread-safe. Destroy the server that uses the service first.
class HealthService : public RpcService {
 public:
  // After the first Beat, a main loop that does not beat for `patience` has
  // stopped. A watch ends with Unavailable after `max_watch`.
  explicit HealthService(absl::Duration patience = kMainLoopTimeout,
                         absl::Duration max_watch = kMaxHealthWatch);
  ~HealthService() override;

  // The main loop goes on. `is_ready`: the task can do its work.
  void Beat(bool is_ready);
  // The main loop has ended. The task is not ready any more, and its last work
  // may take as long as it needs.
  void EndBeats();

 private:
  using Health = ::grpc::health::v1::HealthCheckResponse;
  // A call of Watch.
  struct Watch;

  void Add(ServerCall& call);
  bool lives() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The health of a service now. NotFound: there is no such service.
  absl::StatusOr<Health::ServingStatus> Find(absl::string_view service) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends the health to each watching call that has not seen it yet.
  void TellWatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const std::shared_ptr<Watch>& watch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends those that have watched for long enough.
  void EndOldWatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const std::shared_ptr<Watch>& watch, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();

  const absl::Duration patience_;
  const absl::Duration max_watch_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_ready_ ABSL_GUARDED_BY(mutex_) = false;
  // Unset: no beat is expected.
  std::optional<absl::Time> last_beat_ ABSL_GUARDED_BY(mutex_);
  std::list<std::shared_ptr<Watch>> watches_ ABSL_GUARDED_BY(mutex_);
  // Tells watches of changes, also of a main loop that stands still.
  std::thread teller_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_HEALTH_SERVICE_H_
