// The device updates the variables as the end of each step, after it has summed
// gradients up with the devices of its group, if it has one: nothing travels
// through the host, and nobody waits for a step.
#ifndef PACELINE_WORKER_STRATEGY_DEVICE_UPDATE_H_
#define PACELINE_WORKER_STRATEGY_DEVICE_UPDATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"

namespace paceline {

class DeviceUpdateStrategy final : public Strategy {
 public:
  // Of a state with device_updates(), whose variables were uploaded. `group` is
  // that of its programs, or null. Both outlive the strategy.
  explicit DeviceUpdateStrategy(const LocalVariables& variables,
                                const DeviceGroup* group = nullptr)
      : variables_(variables), group_(group) {}

  // They are always current: on the device.
  absl::Status PullVariables() override { return absl::OkStatus(); }
  // Not called: no section has buckets.
  absl::Status GradientsReady(int bucket) override;
  // Does not wait. An error is that of the group: none after what was computed
  // so far has been read says that no sum in it had failed.
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  const LocalVariables& variables_;
  const DeviceGroup* const group_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_DEVICE_UPDATE_H_
