#include "ps_server/shard_start.h"

#include <utility>

#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/manifest_content.h"
#include "common/job/job_model.h"
#include "common/job/model_file.h"
#include "common/model/metric_layout.h"
#include "common/model/seeded_values.h"
#include "ps_server/aggregator.h"
#include "ps_server/chunk_variables.h"
#include "ps_server/worker_entries.h"

namespace paceline {
namespace {

AggregatorOptions OptionsOf(const v1::InitializeRequest& request,
                            const MetricLayout& layout, bool needs_norms) {
  AggregatorOptions options;
  if (request.job().consistency() != v1::CONSISTENCY_UNSPECIFIED) {
    options.consistency = request.job().consistency();
  }
  options.workers = request.workers();
  options.state_size = layout.reported_size();
  options.max_staleness = request.job().max_staleness();
  options.applies_apart =
      options.consistency == v1::CONSISTENCY_SYNC && needs_norms;
  return options;
}

}  // namespace

absl::StatusOr<ShardStart> MakeShardStart(const v1::InitializeRequest& request,
                                          DataType type,
                                          const ReadFence& fence) {
  const int shard = static_cast<int>(request.shard());
  const int shard_count = static_cast<int>(request.shard_count());
  ASSIGN_OR_RETURN(
      std::vector<std::unique_ptr<ChunkVariables>> variables,
      ChunkVariables::Create(request.job(), shard, shard_count, type));
  ASSIGN_OR_RETURN(const JobModel model, MakeJobModel(request.job()));
  const MetricLayout layout(SpecsOf(model.objectives));
  ShardStart start;
  std::unique_ptr<CheckpointReader> checkpoint;
  SafetensorsMetadata metadata;
  if (!request.restore_path().empty()) {
    ASSIGN_OR_RETURN(checkpoint,
                     CheckpointReader::Open(request.restore_path()));
  }
  if (checkpoint != nullptr && !request.variables_only()) {
    const Manifest& manifest = checkpoint->manifest();
    start.step = RestoredStep(manifest, shard, shard_count);
    if (static_cast<int>(manifest.shards.size()) == shard_count) {
      ASSIGN_OR_RETURN(metadata, checkpoint->ShardMetadata(shard));
    }
  }
  std::unique_ptr<InitialWeights> weights;
  if (checkpoint == nullptr) {
    ASSIGN_OR_RETURN(weights, fence.Run([&] {
      return OpenWeights(request.job(), model.graph);
    }));
  }
  SeededValues seeded(request.job().seed());
  const std::vector<WorkerEntries> workers =
      SplitWorkerEntries(metadata, variables.size());
  for (std::unique_ptr<ChunkVariables>& each : variables) {
    if (checkpoint == nullptr) {
      RETURN_IF_ERROR(each->Initialize(seeded, weights.get()));
    } else if (request.variables_only()) {
      RETURN_IF_ERROR(each->RestoreVariables(*checkpoint));
    } else {
      RETURN_IF_ERROR(each->Restore(*checkpoint, start.step));
    }
    const AggregatorOptions options =
        OptionsOf(request, layout, each->needs_norms());
    ASSIGN_OR_RETURN(
        Aggregator aggregator,
        Aggregator::Restore(start.step, workers[start.chunks.size()], options));
    start.size_bytes += each->size_bytes();
    start.chunks.push_back(std::make_unique<ShardChunk>(
        std::move(each), std::move(aggregator), options));
  }
  return start;
}

}  // namespace paceline
