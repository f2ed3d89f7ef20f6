#include "common/daemon/coordinator_contact.h"

#include <algorithm>

#include "glog/logging.h"

namespace paceline {
namespace {

constexpr absl::Duration kFirstBackoff = absl::Milliseconds(500);
constexpr absl::Duration kLongestBackoff = absl::Seconds(10);
constexpr absl::Duration kWaitLogInterval = absl::Seconds(10);

}  // namespace

void CoordinatorContact::Succeeded() {
  if (!was_reached_) LOG(INFO) << coordinator_ << " answers";
  if (was_reached_ && is_lost_) LOG(INFO) << coordinator_ << " is back";
  was_reached_ = true;
  is_lost_ = false;
  backoff_ = absl::ZeroDuration();
  next_try_ = absl::InfinitePast();
}

void CoordinatorContact::Failed(const absl::Status& error, absl::Time now) {
  last_error_ = std::string(error.message());
  if (was_reached_ && !is_lost_) {
    LOG(WARNING) << coordinator_
                 << " is lost; tasks go on meanwhile: " << last_error_;
  }
  is_lost_ = true;
  backoff_ = std::clamp(2 * backoff_, kFirstBackoff, kLongestBackoff);
  next_try_ = now + backoff_;
}

void CoordinatorContact::LogWaiting(absl::Time now) {
  if (was_reached_) return;
  if (next_log_ == absl::InfinitePast()) next_log_ = now + kWaitLogInterval;
  if (now < next_log_) return;
  next_log_ = now + kWaitLogInterval;
  LOG(WARNING) << "waiting for " << coordinator_ << ": " << last_error_;
}

}  // namespace paceline
