#include "worker/lifecycle/local_checkpoints.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/manifest_content.h"
#include "common/checkpoint/tensor_visits.h"

namespace paceline {

absl::Status LocalCheckpoints::Restore(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader,
                   CheckpointReader::Open(path));
  RETURN_IF_ERROR(reader->CheckFits(variables_, slot_names_));
  RETURN_IF_ERROR(ReadTensors(*reader, variables_, slot_names_, tensors_));
  tensors_.set_iterations(reader->manifest().step);
  return absl::OkStatus();
}

absl::Status LocalCheckpoints::RestoreVariables(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader,
                   CheckpointReader::Open(path));
  RETURN_IF_ERROR(reader->CheckFits(variables_, {}));
  return ReadVariables(*reader, variables_, tensors_);
}

absl::StatusOr<std::function<void()>> LocalCheckpoints::Take(
    const std::string& name) {
  RETURN_IF_ERROR(tensors_.Download(stream_));
  auto snapshot = std::make_shared<ShardSnapshot>();
  snapshot->file = ShardFileName(/*shard=*/0, /*shard_count=*/1);
  snapshot->step = tensors_.iterations();
  snapshot->metadata["format"] = "paceline";
  snapshot->metadata["step"] = absl::StrCat(snapshot->step);
  CopyTensors(StoredVariables(variables_, plan_), slot_names_, tensors_,
              snapshot->tensors);
  return std::function<void()>([this, name, snapshot] {
    const absl::Status started = checkpointer_.Start(
        member_.registration().checkpoint_folder(), name, std::move(*snapshot));
    if (!started.ok()) return member_.ReportCheckpoint(name, started);
    checkpointer_.WhenWritten(name,
                              [this, name](const Checkpointer::Result& file) {
                                member_.ReportCheckpoint(name, file);
                              });
  });
}

}  // namespace paceline
