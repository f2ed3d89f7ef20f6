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
  ended_.push_back(index);
  closed_.NotifyAll();
}

int CallGroup::WaitForOne() {
  MutexLock lock(mutex_);
  while (ended_.empty() && open_count_ > 0) {
    closed_.WaitFor(mutex_, absl::Seconds(1));
  }
  if (ended_.empty()) return -1;
  const int index = ended_.front();
  ended_.erase(ended_.begin());
  return index;
}

void CallGroup::Wait() {
  MutexLock lock(mutex_);
  while (open_count_ > 0) closed_.WaitFor(mutex_, absl::Seconds(1));
  ended_.clear();
}

}  // namespace paceline
