// The all-reduce of synchronized statistics over a group of its own: gradients
// of the same step may be on their way at the same time.
#ifndef PACELINE_WORKER_STRATEGY_TRANSPORT_STATISTICS_ALL_REDUCE_H_
#define PACELINE_WORKER_STRATEGY_TRANSPORT_STATISTICS_ALL_REDUCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/collective/collectives.h"
#include "worker/collective/moments_block.h"
#include "worker/collective/transport.h"
#include "worker/device/device.h"

namespace paceline {

// Not thread-safe.
class TransportStatisticsAllReduce final : public StatisticsAllReduce {
 public:
  // `channels` as SynchronizedChannels has them.
  explicit TransportStatisticsAllReduce(std::vector<int64_t> channels)
      : channels_(std::move(channels)) {}

  // Before the first step. Without it the replica is alone. `on_waiting` is
  // told what the replica waits for, and "" when it no longer does.
  void Join(std::unique_ptr<Transport> transport,
            std::function<void(const std::string&)> on_waiting);
  // Ends the others' waits for this replica with an error. Thread-safe.
  void Abort(const absl::Status& reason);

  void AddUp(absl::Span<double> values) override;
  void MergeMoments(absl::Span<double> moments) override;
  absl::Status Take() override { return status_; }

  // The calls of a step, by a replica that has no example in it.
  absl::Status AddNothing();

 private:
  template <typename T>
  void AllReduce(absl::Span<T> values);

  const std::vector<int64_t> channels_;
  std::unique_ptr<Transport> transport_;
  std::optional<Collectives> collectives_;
  std::function<void(const std::string&)> on_waiting_;
  std::string waiting_;
  absl::Status status_;
  // Reused.
  std::vector<MomentsBlock> blocks_;
  // Reused; zeros before each call.
  std::vector<double> nothing_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_TRANSPORT_STATISTICS_ALL_REDUCE_H_
