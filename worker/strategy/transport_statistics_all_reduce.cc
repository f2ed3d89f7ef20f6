#include "worker/strategy/transport_statistics_all_reduce.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace paceline {

void TransportStatisticsAllReduce::Join(
    std::unique_ptr<Transport> transport,
    std::function<void(const std::string&)> on_waiting) {
  transport_ = std::move(transport);
  collectives_.emplace(*transport_);
  on_waiting_ = std::move(on_waiting);
  waiting_ = absl::StrCat("the batch statistics of ", transport_->world_size(),
                          " replicas");
}

void TransportStatisticsAllReduce::Abort(const absl::Status& reason) {
  if (transport_ != nullptr) transport_->Abort(reason);
}

void TransportStatisticsAllReduce::AddUp(absl::Span<double> values) {
  AllReduce(values);
}

void TransportStatisticsAllReduce::MergeMoments(absl::Span<double> moments) {
  if (!collectives_ || !status_.ok()) return;
  constexpr int64_t kColumns = MomentsBlock::kColumns;
  double& rows = moments[0];
  const auto channels = static_cast<int64_t>(moments.size() - 1) / 2;
  double* const means = moments.data() + 1;
  double* const deviations = means + channels;
  blocks_.assign((channels + kColumns - 1) / kColumns, {.rows = rows});
  for (int64_t c = 0; c < channels; ++c) {
    blocks_[c / kColumns].means[c % kColumns] = means[c];
    blocks_[c / kColumns].deviations[c % kColumns] = deviations[c];
  }
  AllReduce(absl::MakeSpan(blocks_));
  rows = blocks_[0].rows;
  for (int64_t c = 0; c < channels; ++c) {
    means[c] = blocks_[c / kColumns].means[c % kColumns];
    deviations[c] = blocks_[c / kColumns].deviations[c % kColumns];
  }
}

template <typename T>
void TransportStatisticsAllReduce::AllReduce(absl::Span<T> values) {
  if (!collectives_ || !status_.ok()) return;
  on_waiting_(waiting_);
  status_ = collectives_->AllReduce(values);
  if (status_.ok()) on_waiting_("");
}

absl::Status TransportStatisticsAllReduce::AddNothing() {
  // Takes part in a sum with `count` zeros.
  const auto reduce = [this](Reduction reduction, int64_t count) {
    nothing_.assign(static_cast<size_t>(count), 0.0);
    (this->*reduction)(absl::MakeSpan(nothing_));
  };
  for (const int64_t channels : channels_) {
    reduce(&StatisticsAllReduce::MergeMoments, 1 + 2 * channels);
  }
  for (auto it = channels_.rbegin(); it != channels_.rend(); ++it) {
    reduce(&StatisticsAllReduce::AddUp, 2 * *it);
  }
  return status_;
}

}  // namespace paceline
