#include "worker/device/program/layout_builder.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include "glog/logging.h"

namespace paceline {
namespace {

// Null stays null: a bucket may have no memory.
std::byte* At(std::byte* bucket, int64_t offset) {
  return bucket == nullptr ? nullptr : bucket + offset;
}

}  // namespace

LayoutBuilder::LayoutBuilder(const ProgramSpec& spec, DataType type_of_layers,
                             BucketMemory variables, BucketMemory gradients)
    : spec_(spec),
      type_of_layers_(type_of_layers),
      of_variable_(spec.graph->variables.size()) {
  for (const Node& node : spec.graph->nodes) {
    for (const int variable : node.variables) {
      ++of_variable_[variable].unwritten;
      ++of_variable_[variable].unread;
    }
  }
  SetOwner("batch");
  for (const Bucket& bucket : spec.bucket_layout->updated_buckets()) {
    const size_t count = bucket.variables.size();
    progress_.push_back({.unwritten = count, .unread = count});
  }
  AddBatch();
  for (size_t i = 0; i < spec.graph->variables.size(); ++i) {
    const VariableLocation location =
        spec.bucket_layout->location(static_cast<int>(i));
    const VariableSpec& variable = spec.graph->variables[i];
    const int64_t offset =
        location.offset * static_cast<int64_t>(sizeof(float));
    variables_.push_back(NewOutsideArena(
        variable.shape, At(variables(location.bucket), offset)));
    gradients_.push_back(
        variable.update == VariableUpdate::kNone
            ? nullptr
            : NewOutsideArena(variable.shape,
                              At(gradients(location.bucket), offset)));
  }
}

void LayoutBuilder::AddBatch() {
  const Graph& graph = *spec_.graph;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    features_.push_back(NewOutsideArena(BatchShape(graph.input_shape(i))));
    layout_.features.push_back(last_memory());
  }
  for (const OutputSpec& output : spec_.outputs) {
    labels_.push_back(NewOutsideArena(
        BatchShape(output.LabelShape(graph.output_shape(output.output)))));
    if (output.has_sparse_labels()) labels_.back()->type = DataType::kInt32;
    layout_.labels.push_back(last_memory());
  }
  for (const OutputSpec& output : spec_.outputs) {
    if (!output.has_sample_weights) continue;
    weights_.push_back(NewOutsideArena({spec_.batch_size}));
    layout_.weights.push_back(last_memory());
  }
}

void LayoutBuilder::SetOwner(const std::string& owner) {
  const auto [it, is_new] = owner_indices_.try_emplace(
      owner, static_cast<int>(layout_.owners.size()));
  if (is_new) layout_.owners.push_back(owner);
  owner_ = it->second;
}

void LayoutBuilder::BeginPart(const std::string& owner, bool in_float32) {
  SetOwner(owner);
  in_float32_ = in_float32;
}

Tensor* LayoutBuilder::NewOutsideArena(Shape shape, std::byte* data) {
  layout_.memories.push_back(std::make_unique<Memory>(Memory{data}));
  layout_.tensors.push_back(
      std::make_unique<Tensor>(Tensor{std::move(shape), last_memory()}));
  return layout_.tensors.back().get();
}

Tensor* LayoutBuilder::NewInArena(Shape shape, DataType type,
                                  int64_t element_size_bytes) {
  Tensor* const tensor = NewOutsideArena(std::move(shape));
  tensor->type = type;
  uses_[tensor->memory] = {.lifetime = {tensor->count() * element_size_bytes,
                                        operation_count(), operation_count()},
                           .owner = owner_};
  return tensor;
}

Tensor* LayoutBuilder::Reshaped(const Tensor* tensor, Shape shape) {
  CHECK_EQ(NumElements(shape), tensor->count());
  layout_.tensors.push_back(std::make_unique<Tensor>(
      Tensor{std::move(shape), tensor->memory, tensor->type}));
  return layout_.tensors.back().get();
}

Tensor* LayoutBuilder::NewMoving(Shape shape, DataType type,
                                 StepAddress address) {
  CHECK_GT(loop_depth_, 0);
  Tensor* const tensor = NewOutsideArena(std::move(shape));
  tensor->type = type;
  moving_.push_back({last_memory(), std::move(address)});
  return tensor;
}

std::vector<MovingMemory> LayoutBuilder::AddLoopBody(
    absl::FunctionRef<void()> add_body) {
  std::vector<MovingMemory> outer = std::exchange(moving_, {});
  ++loop_depth_;
  add_body();
  --loop_depth_;
  return std::exchange(moving_, std::move(outer));
}

Shape LayoutBuilder::BatchShape(const Shape& shape) const {
  Shape result = {spec_.batch_size};
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

void LayoutBuilder::ExtendLife(const Tensor* tensor, int last) {
  if (const auto it = uses_.find(tensor->memory); it != uses_.end()) {
    it->second.lifetime.last = std::max(it->second.lifetime.last, last);
  }
}

void LayoutBuilder::NoteOperation(const std::vector<const Tensor*>& used) {
  for (const Tensor* tensor : used) ExtendLife(tensor, operation_count());
  if (loop_depth_ == 0) layout_.operation_owners.push_back(owner_);
}

Tensor* LayoutBuilder::NewGradientPart(int index) {
  const bool is_first = !std::exchange(of_variable_[index].is_placed, true);
  return is_first ? gradient(index) : NewTensor<float>(gradient(index)->shape);
}

void LayoutBuilder::FinishGradient(int variable, const Tensor* part) {
  VariableProgress& progress = of_variable_[variable];
  CHECK_GT(progress.unwritten, 0) << spec_.graph->variables[variable].name;
  Tensor* const sum = gradient(variable);
  const bool is_first = !std::exchange(progress.is_written, true);
  CHECK_EQ(is_first, part->memory == sum->memory)
      << spec_.graph->variables[variable].name;
  if (!is_first) {
    AddSum(sum, part, sum);
    NoteOverwriting(sum);
  }
  if (--progress.unwritten > 0) return;
  const Regularizer& regularizer = spec_.graph->variables[variable].regularizer;
  if (!regularizer.is_zero()) {
    AddPenaltyGradient(regularizer, variables_[variable], gradients_[variable]);
  }
  if (spec_.optimizer != nullptr) return;
  const int bucket = spec_.bucket_layout->location(variable).bucket;
  if (--progress_[bucket].unwritten > 0) return;
  AddBucketEnd(bucket, std::all_of(progress_.begin(), progress_.end(),
                                   [](const BucketProgress& each) {
                                     return each.unwritten == 0;
                                   }));
  EndSection();
  Section& section = layout_.sections.back().section;
  section.ready_buckets.push_back(bucket);
  if (!reads_host_variables()) section.final_buckets.push_back(bucket);
}

void LayoutBuilder::FinishReads(int variable) {
  VariableProgress& progress = of_variable_[variable];
  CHECK_GT(progress.unread, progress.unwritten)
      << spec_.graph->variables[variable].name;
  if (--progress.unread > 0) return;
  if (spec_.optimizer != nullptr || !reads_host_variables()) return;
  const int bucket = spec_.bucket_layout->location(variable).bucket;
  if (--progress_[bucket].unread > 0) return;
  EndSection();
  layout_.sections.back().section.final_buckets.push_back(bucket);
}

void LayoutBuilder::EndSection() {
  CHECK_EQ(loop_depth_, 0);
  if (layout_.sections.empty() ||
      layout_.sections.back().end < operation_count()) {
    layout_.sections.push_back({{}, operation_count()});
  }
}

ProgramLayout LayoutBuilder::TakeLayout(std::vector<const Tensor*> outputs) {
  layout_.outputs = std::move(outputs);
  if (!is_training()) {
    for (const Tensor* output : layout_.outputs) {
      ExtendLife(output, std::numeric_limits<int>::max());
    }
  }
  EndSection();
  PlanArena();
  return std::move(layout_);
}

void LayoutBuilder::PlanArena() {
  std::vector<Lifetime> lifetimes;
  for (const std::unique_ptr<Memory>& memory : layout_.memories) {
    const auto it = uses_.find(memory.get());
    if (it == uses_.end()) continue;
    const auto& [lifetime, owner] = it->second;
    layout_.arena.push_back({memory.get(), lifetime, /*offset=*/0, owner});
    lifetimes.push_back(lifetime);
  }
  const MemoryPlan plan = PlanMemory(lifetimes);
  for (size_t i = 0; i < plan.offsets.size(); ++i) {
    layout_.arena[i].offset = plan.offsets[i];
  }
  layout_.arena_size_bytes = plan.size_bytes;
}

}  // namespace paceline
