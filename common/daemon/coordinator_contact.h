// Whether a daemon reaches its coordinator, and when it tries again.
#ifndef PACELINE_COMMON_DAEMON_COORDINATOR_CONTACT_H_
#define PACELINE_COMMON_DAEMON_COORDINATOR_CONTACT_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace paceline {

// Logs once when the coordinator is lost, and once when it is back; until it
// was reached at all, every 10 s what the daemon waits for. Not thread-safe.
class CoordinatorContact {
 public:
  // `coordinator`: "the coordinator at 127.0.0.1:2222".
  explicit CoordinatorContact(std::string coordinator)
      : coordinator_(std::move(coordinator)) {}

  void Succeeded();
  // The next try is after 0.5 s, then after twice the time, at most 10 s.
  void Failed(const absl::Status& error, absl::Time now);
  bool MayTry(absl::Time now) const { return now >= next_try_; }
  // Whether it was never reached, or is lost.
  bool is_away() const { return !was_reached_ || is_lost_; }
  void LogWaiting(absl::Time now);

 private:
  const std::string coordinator_;
  bool was_reached_ = false;
  bool is_lost_ = false;
  std::string last_error_ = "it has not answered yet";
  absl::Duration backoff_;
  absl::Time next_try_ = absl::InfinitePast();
  absl::Time next_log_ = absl::InfinitePast();
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_COORDINATOR_CONTACT_H_
