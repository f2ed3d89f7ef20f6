#include "worker/data/reader_tuner.h"

#include <algorithm>
#include <cstdint>

namespace paceline {
namespace {

// Waking a thread takes 10 to 50 µs.
constexpr absl::Duration kLeastShare = absl::Microseconds(250);

// Batches without a wait, after which a reader is too many.
constexpr int kCalm = 32;

// How much the newest batch counts in the mean.
constexpr int kMeanOf = 4;

}  // namespace

void ReaderTuner::OnBatch(absl::Duration duration, bool waited) {
  const absl::Duration work = duration * readers_;
  work_ =
      work_ == absl::ZeroDuration() ? work : work_ + (work - work_) / kMeanOf;
  calm_ = waited ? 0 : calm_ + 1;
  if (waited) {
    wanted_ = std::min(readers_ + 1, most_);
  } else if (calm_ >= kCalm) {
    wanted_ = std::max(wanted_ - 1, 1);
    calm_ = 0;
  }
  const auto worth =
      static_cast<int64_t>(absl::FDivDuration(work_, kLeastShare));
  readers_ = static_cast<int>(std::clamp<int64_t>(worth, 1, wanted_));
}

}  // namespace paceline
