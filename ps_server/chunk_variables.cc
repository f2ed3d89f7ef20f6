#include "ps_server/chunk_variables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/manifest_content.h"
#include "common/checkpoint/tensor_visits.h"
#include "common/job/job_model.h"
#include "common/job/job_plan.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "common/sharding/shard_plan.h"
#include "glog/logging.h"
#include "ps_server/block_state.h"

namespace paceline {
namespace {

// Data that all chunks of a shard share.
struct ShardLayout {
  std::vector<VariableSpec> variables;
  ShardPlan plan;
  std::unique_ptr<const Optimizer> optimizer;
  std::vector<std::string> slot_names;
  std::vector<StoredVariable> stored;
};

template <typename T>
class TypedVariables final : public ChunkVariables {
 public:
  // `chunk` must be part of the layout.
  TypedVariables(std::shared_ptr<const ShardLayout> layout,
                 const ShardPlan::Chunk& chunk)
      : layout_(std::move(layout)), is_frozen_(chunk.is_frozen) {
    for (const Block& block : chunk.blocks) {
      blocks_.push_back(std::make_unique<BlockState<T>>(layout_->plan, block,
                                                        *layout_->optimizer));
      block_sizes_.push_back(blocks_.back()->values_size());
    }
  }

  absl::Status Initialize(SeededValues& seeded,
                          InitialWeights* weights) override {
    for (const auto& block : blocks_) {
      RETURN_IF_ERROR(
          FillInitialValues(seeded, layout_->variables, weights, *block));
    }
    return absl::OkStatus();
  }

  absl::Status Restore(CheckpointReader& checkpoint, int64_t step) override {
    RETURN_IF_ERROR(
        checkpoint.CheckFits(layout_->variables, layout_->slot_names));
    for (const auto& block : blocks_) {
      block->SetVersion(static_cast<uint64_t>(step));
      RETURN_IF_ERROR(ReadTensors(checkpoint, layout_->variables,
                                  layout_->slot_names, *block));
    }
    return absl::OkStatus();
  }

  absl::Status RestoreVariables(CheckpointReader& checkpoint) override {
    RETURN_IF_ERROR(checkpoint.CheckFits(layout_->variables, {}));
    for (const auto& block : blocks_) {
      RETURN_IF_ERROR(ReadVariables(checkpoint, layout_->variables, *block));
    }
    return absl::OkStatus();
  }

  const std::vector<StoredVariable>& stored_variables() const override {
    return layout_->stored;
  }

  bool has_averages() const override { return layout_->optimizer->use_ema; }

  void SwapAverages() override {
    for (const auto& block : blocks_) block->SwapAverages();
  }

  absl::Status Check(absl::Span<const DenseValues> gradients) const override {
    if (is_frozen_) {
      return absl::InvalidArgumentError(
          "gradients of a chunk whose variables are frozen");
    }
    std::vector<bool> seen(blocks_.size(), false);
    for (const DenseValues& each : gradients) {
      if (each.index >= blocks_.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("gradients of block ", each.index, ": the chunk has ",
                         blocks_.size(), " blocks"));
      }
      if (seen[each.index]) {
        return absl::InvalidArgumentError(absl::StrCat(
            "gradients of block ", each.index, " come more than once"));
      }
      seen[each.index] = true;
      RETURN_IF_ERROR(blocks_[each.index]->Check(each));
    }
    return absl::OkStatus();
  }

  absl::Status CheckWhole(
      absl::Span<const DenseValues> gradients) const override {
    RETURN_IF_ERROR(Check(gradients));
    if (gradients.size() != blocks_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("gradients of ", gradients.size(),
                       " blocks; a synchronous step takes those of all ",
                       blocks_.size(), " blocks of the chunk"));
    }
    for (const DenseValues& each : gradients) {
      if (blocks_[each.index]->IsWhole(each)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("gradients of block ", each.index,
                       ": a synchronous step takes the whole block"));
    }
    return absl::OkStatus();
  }

  void Add(absl::Span<const DenseValues> gradients) override {
    for (const DenseValues& each : gradients) blocks_[each.index]->Add(each);
  }

  std::vector<double> SquaredNorms() const override {
    std::vector<double> norms(layout_->variables.size());
    for (const auto& block : blocks_) {
      block->AddSquaredNorms(absl::MakeSpan(norms));
    }
    return norms;
  }

  void ApplySum(const Call& call, std::vector<double> squared_norms) override {
    const double learning_rate = RateOf(call);
    squared_norms.resize(layout_->variables.size());
    layout_->optimizer->clipping.ToFactors(absl::MakeSpan(squared_norms));
    for (const auto& block : blocks_) {
      block->ApplySum(learning_rate, squared_norms);
    }
  }

  bool needs_norms() const override {
    return layout_->optimizer->clipping.needs_norms();
  }

  absl::Status CheckNorms(
      absl::Span<const double> squared_norms) const override {
    if (squared_norms.size() != layout_->variables.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "squared norms of ", squared_norms.size(),
          " variables; the model has ", layout_->variables.size()));
    }
    for (const double norm : squared_norms) {
      if (norm < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("the squared norm of a variable is ", norm));
      }
    }
    return absl::OkStatus();
  }

  uint64_t Apply(const Call& call,
                 absl::Span<const DenseValues> gradients) override {
    const double learning_rate = RateOf(call);
    uint64_t staleness = 0;
    for (const DenseValues& each : gradients) {
      staleness =
          std::max(staleness, blocks_[each.index]->Apply(learning_rate, each));
    }
    return staleness;
  }

  bool is_frozen() const override { return is_frozen_; }

  absl::Span<const size_t> block_sizes() const override { return block_sizes_; }

  absl::Status CheckBuffers(
      absl::Span<const DenseBuffer> buffers) const override {
    if (buffers.size() != blocks_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("buffers for ", buffers.size(),
                       " blocks; the chunk has ", blocks_.size()));
    }
    for (size_t block = 0; block < blocks_.size(); ++block) {
      if (buffers[block].values.size() == block_sizes_[block]) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "a buffer of ", buffers[block].values.size(), " bytes for block ",
          block, ", which has ", block_sizes_[block]));
    }
    return absl::OkStatus();
  }

  void Read(absl::Span<DenseBuffer> buffers) const override {
    for (size_t block = 0; block < blocks_.size(); ++block) {
      blocks_[block]->Read(buffers[block]);
    }
  }

  void CopyTo(std::vector<SnapshotTensor>& tensors) override {
    for (const auto& block : blocks_) {
      CopyTensors(layout_->stored, layout_->slot_names, *block, tensors);
    }
  }

  int64_t size_bytes() const override {
    int64_t size = 0;
    for (const auto& block : blocks_) size += block->size_bytes();
    return size;
  }

 private:
  double RateOf(const Call& call) const {
    return layout_->optimizer->StepAfter(call.iterations, call.learning_rate)
        .learning_rate;
  }

  const std::shared_ptr<const ShardLayout> layout_;
  const bool is_frozen_;
  // By Block::index.
  std::vector<std::unique_ptr<BlockState<T>>> blocks_;
  std::vector<size_t> block_sizes_;
};

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<ChunkVariables>>>
ChunkVariables::Create(const v1::Job& job, int shard, int shard_count,
                       DataType type) {
  CHECK(type == DataType::kFloat32 || type == DataType::kFloat64);
  if (shard < 0 || shard >= shard_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no shard ", shard, " of ", shard_count));
  }
  ASSIGN_OR_RETURN(Graph graph, BuildGraph(job.model()));
  ASSIGN_OR_RETURN(ShardPlan plan, MakeJobPlan(job, graph, shard_count,
                                               static_cast<int>(SizeOf(type))));
  ASSIGN_OR_RETURN(std::unique_ptr<const Optimizer> optimizer,
                   MakeJobOptimizer(job, graph));
  auto made = std::make_shared<ShardLayout>();
  made->slot_names = optimizer->slot_names();
  made->stored = StoredVariables(graph.variables, plan);
  made->variables = std::move(graph.variables);
  made->optimizer = std::move(optimizer);
  made->plan = std::move(plan);
  const std::shared_ptr<const ShardLayout> layout = std::move(made);
  std::vector<std::unique_ptr<ChunkVariables>> chunks;
  for (const ShardPlan::Chunk& chunk : layout->plan.chunks(shard)) {
    if (type == DataType::kFloat64) {
      chunks.push_back(std::make_unique<TypedVariables<double>>(layout, chunk));
    } else {
      chunks.push_back(std::make_unique<TypedVariables<float>>(layout, chunk));
    }
  }
  return chunks;
}

}  // namespace paceline
