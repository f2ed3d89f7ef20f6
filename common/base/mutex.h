// The project's only lock: std::mutex with clang's thread-safety annotations.
//
// absl::Mutex is not used because Debian's Abseil is not built for the thread
// sanitizer, which would report false races.
#ifndef PACELINE_COMMON_BASE_MUTEX_H_
#define PACELINE_COMMON_BASE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace paceline {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable. Waits may wake up spuriously, so wait in a loop. There
// is no wait without a timeout.
class CondVar {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  // Blocks for at most `timeout`. Returns false if it has passed.
  bool WaitFor(Mutex& mutex, absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool in_time =
        condition_.wait_for(lock, absl::ToChronoNanoseconds(timeout)) ==
        std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_MUTEX_H_
