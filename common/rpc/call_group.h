// Calls that run at the same time and are waited for together.
#ifndef PACELINE_COMMON_RPC_CALL_GROUP_H_
#define PACELINE_COMMON_RPC_CALL_GROUP_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"

namespace paceline {

// What a call reports when it ends; runs on a thread of gRPC's and must not
// block.
using CallDone = std::function<void(absl::Status)>;

// Waits for a known number of calls. Thread-safe, reusable, allocates only when
// made. Must not be destroyed while calls are open.
class CallGroup {
 public:
  explicit CallGroup(int call_count) : statuses_(call_count) {
    ended_.reserve(call_count);
  }

  // To be reported by call `index`, which is open from now on.
  CallDone Open(int index);

  // Waits until a call ends that was not returned before, and returns the index
  // of the one that ended first; -1 if no call is open. Each call has a
  // deadline of its own, so this ends.
  int WaitForOne();
  // The same for calls that have ended already; -1 if there is none. Does not
  // wait.
  int TakeEnded();
  // Waits until no call is open. The statuses are those of the last call of
  // each index.
  void Wait();

  const absl::Status& status(int index) const { return statuses_[index]; }

 private:
  void Close(int index, absl::Status status);
  // -1 if there is none.
  int TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  CondVar closed_;
  int open_count_ ABSL_GUARDED_BY(mutex_) = 0;
  // Ended and not returned; room for all.
  std::vector<int> ended_ ABSL_GUARDED_BY(mutex_);
  // Each is written by its open call, and read when that is over.
  std::vector<absl::Status> statuses_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CALL_GROUP_H_
