// Whether a batch is one that a program can take.
#ifndef PACELINE_WORKER_DEVICE_CHECK_BATCH_H_
#define PACELINE_WORKER_DEVICE_CHECK_BATCH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "worker/device/device.h"

namespace paceline {

// Of a sparse loss, the labels are in [0, the result); else it is 0.
int64_t SparseClassCount(const ProgramSpec& spec);

// InvalidArgument as Program::SetBatch has it. `type` is that of the device's
// values.
absl::Status CheckBatch(const Batch& batch, int64_t batch_size, DataType type,
                        int64_t sparse_class_count);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CHECK_BATCH_H_
