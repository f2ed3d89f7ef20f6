#include "worker/lifecycle/load_replica.h"

#include <memory>

#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/tensor_visits.h"
#include "worker/strategy/broadcast_variables.h"

namespace paceline {

absl::Status LoadReplica(const std::string& path, bool reads, Transport* peers,
                         absl::Span<const VariableSpec> specs,
                         const BucketLayout& layout, LocalVariables& variables,
                         Stream& stream) {
  // A device that updates has the slots that stay.
  RETURN_IF_ERROR(variables.Download(stream));
  if (reads) {
    ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> checkpoint,
                     CheckpointReader::Open(path));
    RETURN_IF_ERROR(checkpoint->CheckFits(specs, /*slot_names=*/{}));
    RETURN_IF_ERROR(ReadVariables(*checkpoint, specs, variables));
  }
  if (peers != nullptr) {
    RETURN_IF_ERROR(BroadcastVariables(*peers, layout, variables));
  }
  return variables.Upload(stream);
}

}  // namespace paceline
