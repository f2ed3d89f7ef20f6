#include "worker/data/epoch_order.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "glog/logging.h"
#include "worker/data/permutation.h"

namespace paceline {

int64_t TrainingExamples(int64_t count, double share) {
  return static_cast<int64_t>(
      std::floor(static_cast<double>(count) * (1.0 - share)));
}

EpochOrder::EpochOrder(const OrderOptions& options)
    : options_(options),
      epoch_examples_(options.ExamplesInEpoch()),
      round_examples_(options.ExamplesInRound()) {
  CHECK_GE(options_.first, 0);
  CHECK_GE(options_.count, 1);
  CHECK_GE(options_.shuffle_buffer_size, 0);
  CHECK_GE(options_.epoch_examples, 0);
  CHECK_GE(options_.epoch_passes, 1);
  CHECK_GE(options_.pass_examples, 0);
  CHECK_LE(options_.pass_examples, options_.count);
  CHECK_GE(options_.replicas, 1);
  MakeStreams();
}

void EpochOrder::MakeStreams() {
  const bool shuffle = options_.shuffle;
  const int64_t buffer_size = options_.shuffle_buffer_size;
  std::vector<int64_t> sizes;
  switch (options_.sharding) {
    case Sharding::kFileAfterFile:
      CHECK_EQ(options_.first, 0);
      if (shuffle && buffer_size == 0 && !options_.files.has_file_per_example) {
        file_order_.emplace(options_.files.SpansWithin(options_.count));
        return;
      }
      [[fallthrough]];
    case Sharding::kExamples:
      streams_.emplace_back(options_.count, shuffle, buffer_size);
      return;
    case Sharding::kOwnFiles:
      CHECK_EQ(options_.first, 0);
      shards_.emplace(options_.files, options_.count, options_.replicas);
      sizes = shards_->Sizes();
      for (const int64_t size : sizes) {
        streams_.emplace_back(size, shuffle, buffer_size);
        spares_.emplace_back(size, shuffle, buffer_size);
      }
      break;
    case Sharding::kOwnPasses:
      sizes.assign(options_.replicas, options_.ExamplesInPass());
      for (int i = 0; i < options_.replicas; ++i) {
        streams_.emplace_back(options_.count, shuffle, buffer_size);
        spares_.emplace_back(options_.count, shuffle, buffer_size);
      }
      break;
  }
  CHECK(epoch_examples_ == round_examples_ ||
        epoch_examples_ % options_.step_size == 0);
  turns_.emplace(std::move(sizes), options_.step_size);
}

EpochOrder::Place EpochOrder::At(int64_t epoch, int64_t position) {
  DCHECK(position >= 0 && position < epoch_examples_);
  const int64_t absolute = epoch * epoch_examples_ + position;
  const int64_t round = absolute / round_examples_;
  const int64_t in_round = absolute % round_examples_;
  if (round != round_) BeginRound(round);
  if (file_order_) return {file_order_->At(in_round), round};
  if (!turns_) return {options_.first + streams_[0].At(in_round), round};
  const ReplicaTurns::Turn turn = turns_->At(in_round);
  std::vector<RangeOrder>& orders = turn.is_spare ? spares_ : streams_;
  const int64_t index = orders[turn.stream].At(turn.index);
  if (shards_) return {shards_->ExampleAt(turn.stream, index), round};
  return {options_.first + index, round * options_.replicas + turn.stream};
}

void EpochOrder::BeginRound(int64_t round) {
  round_ = round;
  if (file_order_) file_order_->Begin(KeyOf(round, 0));
  const bool has_passes = options_.sharding == Sharding::kOwnPasses;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const auto stream = static_cast<int>(i);
    const uint64_t key = has_passes
                             ? KeyOf(round * options_.replicas + stream, 0)
                             : KeyOf(round, stream);
    streams_[i].Begin(key);
    if (turns_) spares_[i].Begin(key);
  }
  if (!turns_) return;
  const bool is_epoch = epoch_examples_ == round_examples_;
  turns_->Begin(round_examples_,
                is_epoch ? 0 : round * round_examples_ % options_.step_size,
                is_epoch);
}

uint64_t EpochOrder::KeyOf(int64_t pass, int stream) const {
  const uint64_t key =
      MixBits(options_.seed) ^ MixBits(~static_cast<uint64_t>(pass));
  return stream == 0 ? key : key ^ MixBits(static_cast<uint64_t>(stream));
}

}  // namespace paceline
