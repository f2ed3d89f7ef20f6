#include "common/checkpoint/variables_order.h"

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"

namespace paceline {

absl::Status CheckOrder(const v1::VariablesOrder& order) {
  if (order.number() == 0) {
    return absl::InvalidArgumentError("order.number: 0; expected at least 1");
  }
  switch (order.kind()) {
    case v1::VariablesOrder::KIND_LOAD:
      return Annotate(CheckCheckpointName(order.checkpoint()),
                      "order.checkpoint");
    case v1::VariablesOrder::KIND_SWAP_AVERAGES:
      if (order.checkpoint().empty()) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat("order.checkpoint: ", PeerText(order.checkpoint()),
                       "; expected none, as order.kind is ",
                       v1::VariablesOrder::KIND_SWAP_AVERAGES));
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("order.kind: ", static_cast<int>(order.kind()),
                       "; expected ", v1::VariablesOrder::KIND_LOAD, " or ",
                       v1::VariablesOrder::KIND_SWAP_AVERAGES));
  }
}

absl::Status CheckHasAverages(const v1::VariablesOrder& order,
                              bool has_averages) {
  if (order.kind() != v1::VariablesOrder::KIND_SWAP_AVERAGES || has_averages) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("order.kind: ", static_cast<int>(order.kind()),
                   ", but the job's optimizer has use_ema: false; expected ",
                   v1::VariablesOrder::KIND_LOAD));
}

}  // namespace paceline
