// The strategy for devices that update the variables themselves, at the end of
// each step, after they have summed gradients with the other devices of their
// group, if there is one. Nothing passes through the host, and the host does
// not wait for each step.
#ifndef PACELINE_WORKER_STRATEGY_DEVICE_UPDATE_H_
#define PACELINE_WORKER_STRATEGY_DEVICE_UPDATE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"

namespace paceline {

class DeviceUpdateStrategy final : public Strategy {
 public:
  // `variables` belong to a state with device_updates(), and must be uploaded.
  // `group` is the group of the state's programs, or null. Both must outlive
  // the strategy.
  explicit DeviceUpdateStrategy(const LocalVariables& variables,
                                const DeviceGroup* group = nullptr)
      : variables_(variables), group_(group) {}

  // The variables on the device are always current.
  absl::Status PullVariables() override { return absl::OkStatus(); }
  absl::Status BeginLease(std::optional<double> /*learning_rate*/) override {
    return absl::OkStatus();
  }
  // Never called, since no section has buckets.
  absl::Status GradientsReady(int bucket) override;
  // Does not block. Returns errors of the group. If there is no error after
  // reading the results of earlier steps, then all sums in these steps
  // succeeded.
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  const LocalVariables& variables_;
  const DeviceGroup* const group_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_DEVICE_UPDATE_H_
