// The all-reduce of synchronized statistics (batch normalization) over a
// transport. It uses a group of its own, since gradients of the same step may
// be under way in the strategy's group at the same time.
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
  // `channels`: see SynchronizedChannels.
  explicit TransportStatisticsAllReduce(std::vector<int64_t> channels)
      : channels_(std::move(channels)) {}

  // Joins a group; call it before the first step. Without it the replica is
  // alone. `on_waiting` is called with what the replica waits for, and with ""
  // when the wait ends.
  void Join(std::unique_ptr<Transport> transport,
            std::function<void(const std::string&)> on_waiting);
  // Ends the other replicas' waits for this one with an error. Thread-safe.
  void Abort(const absl::Status& reason);

  void AddUp(absl::Span<double> values) override;
  void MergeMoments(absl::Span<double> moments) override;
  absl::Status Take() override { return status_; }

  // Takes part in the sums of a step in which this replica has no example.
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
  // Reused by later calls.
  std::vector<MomentsBlock> blocks_;
  // Reused by later calls; all zeros before each call.
  std::vector<double> nothing_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_TRANSPORT_STATISTICS_ALL_REDUCE_H_
