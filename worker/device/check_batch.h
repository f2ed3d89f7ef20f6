// Whether a batch is one that a program can take.
#ifndef PACELINE_WORKER_DEVICE_CHECK_BATCH_H_
#define PACELINE_WORKER_DEVICE_CHECK_BATCH_H_

#include "absl/status/status.h"
#include "worker/device/device.h"

namespace paceline {

// InvalidArgument as Program::SetBatch has it, of a program of `spec`. `type`
// is that of the device's values.
absl::Status CheckBatch(const ProgramSpec& spec, const Batch& batch,
                        DataType type);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CHECK_BATCH_H_
