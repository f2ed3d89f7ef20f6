// The CPU device: oneDNN for convolutions and matrix products, and loops of our
// own for the rest.
//
// Everything between layers is dense float32 in Keras' order, images as (batch,
// height, width, channels). Variables and gradients are used where they lie in
// the buckets. With Precision::kMixedBFloat16 convolutions and matrix products
// multiply bfloat16, and what passes between them is bfloat16 too, where
// compute_type_outputs.h says so. Programs compute on the thread that enqueues,
// with the OpenMP threads that the device gives it; denormal numbers are zeros.
// A repeat gives the same bits, on the same kind of processor with the same
// number of threads.
#ifndef PACELINE_WORKER_DEVICE_CPU_CPU_DEVICE_H_
#define PACELINE_WORKER_DEVICE_CPU_CPU_DEVICE_H_

#include <dnnl.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace paceline {

struct CpuDeviceOptions {
  // Threads that compute a program, with the calling one. At least 1.
  int threads = 1;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const CpuDeviceOptions& options);

  std::string name() const override { return "cpu"; }
  absl::Status Supports(const ProgramSpec& spec) const override;
  // bfloat16 with AVX512-BF16 or AMX.
  bool CanCompute(Precision precision) const override;
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override;
  absl::StatusOr<std::unique_ptr<ModelState>> CreateState(
      const ProgramSpec& spec) override;
  absl::StatusOr<std::unique_ptr<Program>> Compile(const ProgramSpec& spec,
                                                   ModelState& state) override;

 private:
  const CpuDeviceOptions options_;
  const dnnl::engine engine_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CPU_CPU_DEVICE_H_
