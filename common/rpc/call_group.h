// A group of concurrent calls that are waited for together.
#ifndef PACELINE_COMMON_RPC_CALL_GROUP_H_
#define PACELINE_COMMON_RPC_CALL_GROUP_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"

namespace paceline {

// Called with the status when a call ends, on the thread that received the
// answer; must not wait for other calls. It may start the next one.
using CallDone = std::function<void(absl::Status)>;

// Waits for a fixed number of calls. Thread-safe, reusable, allocates only in
// the constructor. Must not be destroyed while calls are open.
class CallGroup {
 public:
  explicit CallGroup(int call_count) : statuses_(call_count) {
    ended_.reserve(call_count);
  }

  // Opens call `index`; call the result when the call ends.
  CallDone Open(int index);

  // Blocks until some call ends, and returns its index; several are returned in
  // the order in which they ended, each once. -1 if no call is open.
  // Terminates, since each call has a deadline.
  int WaitForOne();
  // Blocks until no call is open. The status of an index is that of its last
  // call.
  void Wait();

  const absl::Status& status(int index) const { return statuses_[index]; }

 private:
  void Close(int index, absl::Status status);

  Mutex mutex_;
  CondVar closed_;
  int open_count_ ABSL_GUARDED_BY(mutex_) = 0;
  // Indices of calls that ended and were not returned yet; reserved for all.
  std::vector<int> ended_ ABSL_GUARDED_BY(mutex_);
  // By index: written when the call ends, read afterwards.
  std::vector<absl::Status> statuses_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_CALL_GROUP_H_
