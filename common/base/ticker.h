// Something that is done at intervals, beside all else.
#ifndef PACELINE_COMMON_BASE_TICKER_H_
#define PACELINE_COMMON_BASE_TICKER_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace paceline {

// Has a thread of its own.
class Ticker {
 public:
  // Calls `tick` after each `interval`.
  Ticker(absl::Duration interval, std::function<void()> tick);
  // Waits for a tick that is under way. None comes afterwards.
  ~Ticker();

 private:
  // False once it is to stop.
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
