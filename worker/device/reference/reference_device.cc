#include "worker/device/reference/reference_device.h"

#include <type_traits>

#include "common/model/metric_layout.h"
#include "worker/device/reference/program.h"
#include "worker/device/reference/state.h"

namespace paceline {
namespace {

// Work runs when it is enqueued.
class ReferenceStream : public Stream {
 public:
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

}  // namespace

template <typename T>
std::string ReferenceDevice<T>::name() const {
  return std::is_same_v<T, double> ? "reference-float64" : "reference";
}

template <typename T>
absl::Status ReferenceDevice<T>::Supports(const ProgramSpec& /*spec*/) const {
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<std::unique_ptr<Stream>> ReferenceDevice<T>::CreateStream() {
  return std::make_unique<ReferenceStream>();
}

template <typename T>
absl::StatusOr<std::unique_ptr<ModelState>> ReferenceDevice<T>::CreateState(
    const ProgramSpec& spec) {
  return std::make_unique<reference::State<T>>(
      *spec.bucket_layout, MetricLayout(spec.outputs).size(),
      spec.gradient_memory);
}

template <typename T>
absl::StatusOr<std::unique_ptr<Program>> ReferenceDevice<T>::Compile(
    const ProgramSpec& spec, ModelState& state) {
  return std::make_unique<reference::ReferenceProgram<T>>(
      spec, static_cast<reference::State<T>&>(state));
}

template class ReferenceDevice<float>;
template class ReferenceDevice<double>;

}  // namespace paceline
