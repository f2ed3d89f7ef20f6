#include "worker/strategy/device_update.h"

#include "glog/logging.h"

namespace paceline {

absl::Status DeviceUpdateStrategy::GradientsReady(int bucket) {
  LOG(FATAL) << "gradients of bucket " << bucket
             << " left the device, which updates the variables itself";
}

absl::StatusOr<int64_t> DeviceUpdateStrategy::EndStep(
    const v1::Progress& /*progress*/) {
  if (group_ != nullptr) RETURN_IF_ERROR(group_->status());
  return variables_.iterations();
}

}  // namespace paceline
