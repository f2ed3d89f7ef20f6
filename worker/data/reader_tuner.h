// How many readers read a batch.
#ifndef PACELINE_WORKER_DATA_READER_TUNER_H_
#define PACELINE_WORKER_DATA_READER_TUNER_H_

#include "absl/time/time.h"
#include "glog/logging.h"

namespace paceline {

// One more whenever the trainer has waited for a batch; one less after a while
// in which it never did, since the cores are the trainer's too. Never so many
// that a reader would have less to do than waking it is worth: sources that are
// read in no time stay with one.
//
// The number changes how fast batches come, never what is in them. Not
// thread-safe.
class ReaderTuner {
 public:
  // `most`: at least 1.
  explicit ReaderTuner(int most) : most_(most) { CHECK_GE(most, 1); }

  // For the next batch.
  int readers() const { return readers_; }

  // A batch was read by readers() readers in `duration`. `waited`: whether the
  // trainer has waited for one since the last call.
  void OnBatch(absl::Duration duration, bool waited);

 private:
  int most_;
  int readers_ = 1;
  // As many as waiting alone would have.
  int wanted_ = 1;
  // Batches since the trainer last waited.
  int calm_ = 0;
  // What one reader would take for a batch; the mean of the last few.
  absl::Duration work_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_READER_TUNER_H_
