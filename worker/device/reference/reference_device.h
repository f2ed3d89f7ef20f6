// The reference device: it defines the correct results, by plain loops in
// float32 or float64.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_REFERENCE_DEVICE_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_REFERENCE_DEVICE_H_

#include <memory>
#include <string>

#include "worker/device/device.h"

namespace paceline {

// `T` is float or double. With double, tests check gradients by finite
// differences.
template <typename T>
class ReferenceDevice : public Device {
 public:
  std::string name() const override;
  absl::Status Supports(const ProgramSpec& spec) const override;
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override;
  absl::StatusOr<std::unique_ptr<ModelState>> CreateState(
      const ProgramSpec& spec) override;
  absl::StatusOr<std::unique_ptr<Program>> Compile(const ProgramSpec& spec,
                                                   ModelState& state) override;
};

extern template class ReferenceDevice<float>;
extern template class ReferenceDevice<double>;

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_REFERENCE_DEVICE_H_
