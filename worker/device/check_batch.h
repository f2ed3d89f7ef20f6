// Checks whether a program can take a batch.
#ifndef PACELINE_WORKER_DEVICE_CHECK_BATCH_H_
#define PACELINE_WORKER_DEVICE_CHECK_BATCH_H_

#include "absl/status/status.h"
#include "worker/device/device.h"

namespace paceline {

// InvalidArgument, as specified by Program::SetBatch, for a program of `spec`.
// `type` is the device's type of values.
absl::Status CheckBatch(const ProgramSpec& spec, const Batch& batch,
                        DataType type);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CHECK_BATCH_H_
