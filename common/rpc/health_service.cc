#include "common/rpc/health_service.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/rpc/message_bytes.h"

namespace paceline {
namespace {

using ::grpc::health::v1::HealthCheckRequest;

// Time after which a watch learns that the main loop stands still.
constexpr absl::Duration kTellInterval = absl::Seconds(1);

absl::Status GivenUp() {
  return absl::CancelledError("the caller has given up");
}

}  // namespace

struct HealthService::Watch {
  // Null once it has ended.
  ServerCall* call;
  std::string service;
  // What the caller knows; unset before the first answer.
  std::optional<Health::ServingStatus> told;
  bool is_sending = false;
  bool is_cancelled = false;
  // When it ends.
  absl::Time deadline = absl::InfiniteFuture();
};

HealthService::HealthService(absl::Duration patience, absl::Duration max_watch)
    : RpcService("grpc.health.v1.Health"),
      patience_(patience),
      max_watch_(max_watch) {
  AddMessages<HealthCheckRequest, Health>(
      "Check", kMaxHealthRequestBytes,
      [this](const HealthCheckRequest& request, Health& response,
             const Done& done) {
        absl::StatusOr<Health::ServingStatus> health;
        {
          MutexLock lock(mutex_);
          health = Find(request.service());
        }
        if (health.ok()) response.set_status(*health);
        done(health.status());
      },
      Access::kAnybody);
  RpcService::Add("Watch", {[this](ServerCall& call) { Add(call); },
                            kMaxHealthRequestBytes, Access::kAnybody});
  teller_ = std::thread([this] { Run(); });
}

HealthService::~HealthService() {
  {
    MutexLock lock(mutex_);
    ends_ = true;
    changed_.NotifyAll();
  }
  teller_.join();
}

void HealthService::Beat(bool is_ready) {
  MutexLock lock(mutex_);
  const bool is_known = lives() && is_ready_ == is_ready;
  last_beat_ = MonotonicNow();
  is_ready_ = is_ready;
  if (!is_known) changed_.NotifyAll();
}

void HealthService::EndBeats() {
  MutexLock lock(mutex_);
  last_beat_.reset();
  is_ready_ = false;
  changed_.NotifyAll();
}

bool HealthService::lives() const {
  return !last_beat_ || MonotonicNow() - *last_beat_ <= patience_;
}

absl::StatusOr<HealthService::Health::ServingStatus> HealthService::Find(
    absl::string_view service) const {
  bool serves = lives();
  if (service == "readiness") {
    serves = serves && is_ready_;
  } else if (!service.empty() && service != "liveness") {
    return absl::NotFoundError(
        "unknown service; expected \"\", \"liveness\" or \"readiness\"");
  }
  return serves ? Health::SERVING : Health::NOT_SERVING;
}

void HealthService::Add(ServerCall& call) {
  HealthCheckRequest request;
  const absl::Status read = ReadMessage(call.request(), request);
  if (!read.ok()) return call.Finish(read);
  auto watch = std::make_shared<Watch>();
  watch->call = &call;
  watch->service = request.service();
  {
    MutexLock lock(mutex_);
    if (watches_.size() >= kMaxHealthWatches) {
      return call.Finish(absl::ResourceExhaustedError(
          absl::StrCat("others watch already; expected at most ",
                       kMaxHealthWatches, " calls")));
    }
    watches_.push_back(watch);
    Tell(watch);
  }
  call.OnCancelled([this, watch] {
    MutexLock lock(mutex_);
    watch->is_cancelled = true;
    if (!watch->is_sending) End(watch, GivenUp());
  });
  // Only now, since the call must not end before OnCancelled has returned.
  MutexLock lock(mutex_);
  watch->deadline = MonotonicNow() + max_watch_;
}

void HealthService::TellWatches() {
  for (const std::shared_ptr<Watch>& watch : watches_) Tell(watch);
}

void HealthService::Tell(const std::shared_ptr<Watch>& watch) {
  if (watch->is_sending || watch->is_cancelled) return;
  const Health::ServingStatus health =
      Find(watch->service).value_or(Health::SERVICE_UNKNOWN);
  if (watch->told == health) return;
  watch->told = health;
  watch->is_sending = true;
  Health response;
  response.set_status(health);
  watch->call->Send(WriteMessage(response), [this, watch] {
    MutexLock lock(mutex_);
    watch->is_sending = false;
    if (watch->is_cancelled) return End(watch, GivenUp());
    Tell(watch);
  });
}

void HealthService::EndOldWatches() {
  const absl::Time now = MonotonicNow();
  const std::list<std::shared_ptr<Watch>> watches = watches_;
  for (const std::shared_ptr<Watch>& watch : watches) {
    if (now < watch->deadline || watch->is_cancelled) continue;
    if (watch->is_sending) {
      // Its caller does not read.
      watch->call->Cancel();
    } else {
      End(watch, absl::UnavailableError(absl::StrCat(
                     "a watch ends after ", absl::FormatDuration(max_watch_),
                     "; call again")));
    }
  }
}

void HealthService::End(const std::shared_ptr<Watch>& watch,
                        const absl::Status& status) {
  // It may be cancelled when it has ended.
  if (watch->call == nullptr) return;
  watches_.remove(watch);
  std::exchange(watch->call, nullptr)->Finish(status);
}

void HealthService::Run() {
  MutexLock lock(mutex_);
  while (!ends_) {
    changed_.WaitFor(mutex_, kTellInterval);
    EndOldWatches();
    TellWatches();
  }
}

}  // namespace paceline
