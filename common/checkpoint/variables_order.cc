#include "common/checkpoint/variables_order.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"

namespace paceline {

absl::Status CheckOrder(const v1::VariablesOrder& order) {
  if (order.number() == 0) {
    return absl::InvalidArgumentError("order.number: 0; expected at least 1");
  }
  if (order.kind() != v1::VariablesOrder::KIND_LOAD) {
    return absl::InvalidArgumentError(
        absl::StrCat("order.kind: ", static_cast<int>(order.kind()),
                     "; expected ", v1::VariablesOrder::KIND_LOAD));
  }
  return Annotate(CheckCheckpointName(order.checkpoint()), "order.checkpoint");
}

}  // namespace paceline
