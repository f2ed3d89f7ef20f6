#include "common/rpc/call_group.h"

#include <utility>

namespace paceline {

CallDone CallGroup::Open(int index) {
  MutexLock lock(mutex_);
  ++open_count_;
  return
      [this, index](absl::Status status) { Close(index, std::move(status)); };
}

void CallGroup::Close(int index, absl::Status status) {
  MutexLock lock(mutex_);
  statuses_[index] = std::move(status);
  --open_count_;
  closed_.NotifyAll();
}

void CallGroup::Wait() {
  MutexLock lock(mutex_);
  while (open_count_ > 0) closed_.WaitFor(mutex_, absl::Seconds(1));
}

}  // namespace paceline
