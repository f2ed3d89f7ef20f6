#include "common/base/ticker.h"

#include <utility>

#include "common/base/clock.h"

namespace paceline {

Ticker::Ticker(absl::Duration interval, std::function<void()> tick)
    : interval_(interval), tick_(std::move(tick)), thread_([this] {
        while (Pause()) tick_();
      }) {}

Ticker::~Ticker() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

bool Ticker::Pause() {
  const absl::Time until = MonotonicNow() + interval_;
  MutexLock lock(mutex_);
  while (!is_stopping_ && MonotonicNow() < until) {
    changed_.WaitFor(mutex_, until - MonotonicNow());
  }
  return !is_stopping_;
}

}  // namespace paceline
