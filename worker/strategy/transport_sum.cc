#include "worker/strategy/transport_sum.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace paceline {

void TransportSum::Join(std::unique_ptr<Transport> transport,
                        std::function<void(const std::string&)> on_waiting) {
  transport_ = std::move(transport);
  collectives_.emplace(*transport_);
  on_waiting_ = std::move(on_waiting);
  waiting_ = absl::StrCat("the batch statistics of ", transport_->world_size(),
                          " replicas");
}

void TransportSum::Abort(const absl::Status& reason) {
  if (transport_ != nullptr) transport_->Abort(reason);
}

void TransportSum::AddUp(absl::Span<double> values) {
  if (!collectives_ || !status_.ok()) return;
  on_waiting_(waiting_);
  status_ = collectives_->AllReduce(values, ReduceOp::kSum);
  if (status_.ok()) on_waiting_("");
}

absl::Status TransportSum::AddNothing() {
  const auto add = [this](int64_t count) {
    nothing_.assign(static_cast<size_t>(count), 0.0);
    AddUp(absl::MakeSpan(nothing_));
  };
  for (const int64_t channels : channels_) add(1 + 2 * channels);
  for (auto it = channels_.rbegin(); it != channels_.rend(); ++it) {
    add(2 * *it);
  }
  return status_;
}

}  // namespace paceline
