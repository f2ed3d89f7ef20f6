#include "worker/data/skipped_examples.h"

#include <utility>

#include "glog/logging.h"

namespace paceline {
namespace {

// The log names this many examples of an epoch; it only counts the others.
constexpr int64_t kNamed = 10;

const char* NameOf(v1::Phase phase) {
  switch (phase) {
    case v1::PHASE_VALIDATION:
      return "data.validation";
    case v1::PHASE_TEST:
      return "data.test";
    default:
      return "data.train";
  }
}

}  // namespace

bool IsOfExample(const absl::Status& error) {
  return absl::IsDataLoss(error) || absl::IsInvalidArgument(error) ||
         absl::IsNotFound(error);
}

void SkippedExamples::BeginEpoch(v1::Phase phase, uint32_t epoch) {
  MutexLock lock(mutex_);
  if (phase == phase_ && epoch == epoch_) return;
  LogCount();
  phase_ = phase;
  epoch_ = epoch;
}

void SkippedExamples::EndEpoch() {
  MutexLock lock(mutex_);
  LogCount();
}

void SkippedExamples::Add(const absl::Status& error) {
  MutexLock lock(mutex_);
  ++total_;
  if (++count_ > kNamed) return;
  LOG(WARNING) << NameOf(phase_)
               << ": an example is left out: " << error.message();
}

int64_t SkippedExamples::total() const {
  MutexLock lock(mutex_);
  return total_;
}

void SkippedExamples::LogCount() {
  const int64_t count = std::exchange(count_, 0);
  if (count == 0) return;
  LOG(WARNING) << NameOf(phase_) << ": " << count
               << (count == 1 ? " example" : " examples") << " of epoch "
               << epoch_ + 1 << " could not be read here, "
               << (count == 1 ? "another stood in for it"
                              : "others stood in for them");
}

}  // namespace paceline
