// Gives a replica, after training, the variables of a checkpoint.
#ifndef PACELINE_WORKER_LIFECYCLE_LOAD_REPLICA_H_
#define PACELINE_WORKER_LIFECYCLE_LOAD_REPLICA_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "common/sharding/bucket_layout.h"
#include "worker/collective/transport.h"
#include "worker/strategy/local_variables.h"

namespace paceline {

// Sets the variables that a replica holds to those of the checkpoint `path`, in
// host memory and on the device. Slots and the number of updates stay. Call it
// while no step is under way. Reads the checkpoint if `reads`. If `peers` is
// not null, all its ranks must call it, and get the variables of rank 0.
// Blocks. Errors are those of CheckpointReader, the transport and the device.
absl::Status LoadReplica(const std::string& path, bool reads, Transport* peers,
                         absl::Span<const VariableSpec> specs,
                         const BucketLayout& layout, LocalVariables& variables,
                         Stream& stream);

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_LOAD_REPLICA_H_
