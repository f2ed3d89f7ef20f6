// The CPU device: oneDNN for convolutions and matrix products, own loops for
// everything else.
//
// Tensors between layers are dense float32 in Keras' order, images as (batch,
// height, width, channels). Programs use variables and gradients in place, in
// the buckets. With Precision::kMixedBFloat16, convolutions and matrix products
// multiply bfloat16, and the outputs that compute_type_outputs.h selects are
// stored as bfloat16. Programs compute on the thread that enqueues them, with
// the OpenMP threads that the device gives to it; denormal numbers are treated
// as zeros. A repeat gives the same bits on the same kind of processor with the
// same number of threads.
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
  // Number of threads that compute a program, including the calling one. At
  // least 1.
  int threads = 1;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const CpuDeviceOptions& options);

  std::string name() const override { return "cpu"; }
  absl::Status Supports(const ProgramSpec& spec) const override;
  // bfloat16 needs AVX512-BF16 or AMX.
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
