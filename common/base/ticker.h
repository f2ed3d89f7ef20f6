// Calls a function at intervals.
#ifndef PACELINE_COMMON_BASE_TICKER_H_
#define PACELINE_COMMON_BASE_TICKER_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace paceline {

// Calls it on a thread of its own.
class Ticker {
 public:
  // Calls `tick` after each `interval`.
  Ticker(absl::Duration interval, std::function<void()> tick);
  // Waits for a call that is under way. No call follows.
  ~Ticker();

 private:
  // Sleeps until the next call. Returns false if the ticker has to stop.
  bool Pause();

  const absl::Duration interval_;
  const std::function<void()> tick_;
  Mutex mutex_;
  CondVar changed_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_TICKER_H_
