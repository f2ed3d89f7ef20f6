#include "worker/data/epoch_order.h"

#include <algorithm>
#include <cmath>

#include "glog/logging.h"

namespace paceline {
namespace {

// Counter-based random numbers below `bound`.
class RandomIndices {
 public:
  explicit RandomIndices(uint64_t key) : key_(key) {}

  // Multiplication instead of a remainder (Lemire, 2019); the bias is below
  // bound / 2^64.
  int64_t Below(int64_t bound) {
    const uint64_t random = MixBits(key_ ^ MixBits(counter_++));
    return static_cast<int64_t>((static_cast<unsigned __int128>(random) *
                                 static_cast<uint64_t>(bound)) >>
                                64);
  }

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace

int64_t TrainingExamples(int64_t count, double share) {
  return static_cast<int64_t>(
      std::floor(static_cast<double>(count) * (1.0 - share)));
}

EpochOrder::EpochOrder(const OrderOptions& options) : options_(options) {
  CHECK_GE(options_.first, 0);
  CHECK_GE(options_.count, 1);
  CHECK_GE(options_.shuffle_buffer_size, 0);
  CHECK_GE(options_.epoch_examples, 0);
  CHECK_GE(options_.pass_examples, 0);
  CHECK_LE(options_.pass_examples, options_.count);
  options_.pass_examples = options_.ExamplesInPass();
  options_.epoch_examples = options_.ExamplesInEpoch();
}

int64_t EpochOrder::ExampleAt(int64_t epoch, int64_t position) {
  DCHECK(position >= 0 && position < options_.epoch_examples);
  const int64_t absolute = epoch * options_.epoch_examples + position;
  const int64_t in_pass = absolute % options_.pass_examples;
  if (!options_.shuffle) return options_.first + in_pass;
  PreparePass(absolute / options_.pass_examples);
  return options_.first + (permutation_.has_value() ? (*permutation_)(in_pass)
                                                    : buffered_order_[in_pass]);
}

int64_t EpochOrder::PassAt(int64_t epoch, int64_t position) const {
  return (epoch * options_.epoch_examples + position) / options_.pass_examples;
}

void EpochOrder::PreparePass(int64_t pass) {
  if (pass == pass_) return;
  pass_ = pass;
  const uint64_t key =
      MixBits(options_.seed) ^ MixBits(~static_cast<uint64_t>(pass));
  if (options_.shuffle_buffer_size == 0) {
    permutation_.emplace(options_.count, key);
  } else {
    RunShuffleBuffer(key);
  }
}

// While there is input, a random example leaves the full buffer and the next
// input takes its place. At the end of the input, the rest of the buffer is
// shuffled.
void EpochOrder::RunShuffleBuffer(uint64_t key) {
  RandomIndices random(key);
  const int64_t capacity =
      std::min(options_.shuffle_buffer_size, options_.count);
  buffer_.resize(capacity);
  buffered_order_.resize(options_.count);
  for (int64_t i = 0; i < capacity; ++i) buffer_[i] = i;
  int64_t size = capacity;
  int64_t next = capacity;
  for (int64_t& example : buffered_order_) {
    const int64_t drawn = random.Below(size);
    example = buffer_[drawn];
    buffer_[drawn] = next < options_.count ? next++ : buffer_[--size];
  }
}

}  // namespace paceline
