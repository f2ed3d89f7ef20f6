#include "worker/device/cpu/program_builder.h"

#include <algorithm>
#include <limits>

#include "glog/logging.h"
#include "worker/device/cpu/kernels/regularization.h"
#include "worker/device/cpu/parallel.h"
#include "worker/device/updated_variables.h"

namespace paceline::cpu {

ProgramBuilder::ProgramBuilder(const ProgramSpec& spec, CpuState& state,
                               const dnnl::engine& engine)
    : spec_(spec),
      engine_(engine),
      unfinished_(CountUpdated(*spec.graph, *spec.plan)) {
  for (size_t bucket = 0; bucket < unfinished_.size(); ++bucket) {
    if (unfinished_[bucket] > 0) continue;
    frozen_buckets_.push_back(static_cast<int>(bucket));
  }
  features_ = Own(BatchShape(spec.graph->input_shape()));
  parts_.features = parts_.memories.back().get();
  labels_ = Own(spec.loss->has_sparse_labels()
                    ? Shape{spec.batch_size}
                    : BatchShape(spec.graph->output_shape()));
  parts_.labels = parts_.memories.back().get();
  for (size_t i = 0; i < spec.graph->variables.size(); ++i) {
    const VariablePlace place = spec.plan->place(static_cast<int>(i));
    const Shape& shape = spec.graph->variables[i].shape;
    const int64_t offset = place.offset * static_cast<int64_t>(sizeof(float));
    variables_.push_back(
        Own(shape, state.host_variables(place.bucket).data() + offset));
    gradients_.push_back(
        Own(shape, state.host_gradients(place.bucket).data() + offset));
  }
}

Tensor* ProgramBuilder::Own(Shape shape, std::byte* data) {
  parts_.memories.push_back(std::make_unique<Memory>(Memory{data}));
  parts_.tensors.push_back(std::make_unique<Tensor>(
      Tensor{std::move(shape), parts_.memories.back().get()}));
  return parts_.tensors.back().get();
}

Tensor* ProgramBuilder::NewTensor(Shape shape, DataType type) {
  Tensor* tensor = Own(std::move(shape));
  const int next = static_cast<int>(parts_.operations.size());
  lifetimes_[tensor->memory] = {
      tensor->count() * static_cast<int64_t>(SizeOf(type)), next, next};
  return tensor;
}

Tensor* ProgramBuilder::NewScratch(int64_t size_bytes) {
  return NewTensor({size_bytes}, DataType::kUint8);
}

Tensor* ProgramBuilder::Reshaped(const Tensor* tensor, Shape shape) {
  CHECK_EQ(NumElements(shape), tensor->count());
  parts_.tensors.push_back(
      std::make_unique<Tensor>(Tensor{std::move(shape), tensor->memory}));
  return parts_.tensors.back().get();
}

void ProgramBuilder::ExtendLife(const Tensor* tensor, int last) {
  if (const auto it = lifetimes_.find(tensor->memory); it != lifetimes_.end()) {
    it->second.last = std::max(it->second.last, last);
  }
}

Shape ProgramBuilder::BatchShape(const Shape& shape) const {
  Shape result = {spec_.batch_size};
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

void ProgramBuilder::Add(const std::vector<const Tensor*>& used,
                         Operation operation) {
  const int index = static_cast<int>(parts_.operations.size());
  for (const Tensor* tensor : used) ExtendLife(tensor, index);
  parts_.operations.push_back(std::move(operation));
}

void ProgramBuilder::AddParallel(const std::vector<const Tensor*>& used,
                                 int64_t count, int64_t elements_each,
                                 RangeOperation operation) {
  Add(used, [count, elements_each, operation = std::move(operation)](
                const Step&) { ParallelFor(count, elements_each, operation); });
}

void ProgramBuilder::AddPrimitive(const dnnl::primitive& primitive,
                                  const dnnl::memory::desc& scratchpad,
                                  std::vector<PrimitiveArgument> arguments) {
  if (scratchpad.get_size() > 0) {
    Tensor* tensor = NewScratch(static_cast<int64_t>(scratchpad.get_size()));
    arguments.push_back({DNNL_ARG_SCRATCHPAD, tensor, scratchpad});
  }
  std::vector<const Tensor*> used;
  for (const PrimitiveArgument& argument : arguments) {
    used.push_back(argument.tensor);
  }
  Add(used, PrimitiveCall(primitive, engine_, arguments));
}

void ProgramBuilder::AddReorder(PrimitiveArgument source,
                                PrimitiveArgument destination) {
  const dnnl::reorder::primitive_desc description(engine_, source.layout,
                                                  engine_, destination.layout,
                                                  PrimitiveAttributes());
  source.index = DNNL_ARG_FROM;
  destination.index = DNNL_ARG_TO;
  AddPrimitive(dnnl::reorder(description), description.scratchpad_desc(),
               {source, destination});
}

Tensor* ProgramBuilder::Reordered(Tensor* source,
                                  const dnnl::memory::desc& from,
                                  const dnnl::memory::desc& to) {
  if (from == to) return source;
  Tensor* result = NewScratch(static_cast<int64_t>(to.get_size()));
  AddReorder({DNNL_ARG_FROM, source, from}, {DNNL_ARG_TO, result, to});
  return result;
}

void ProgramBuilder::FinishGradient(int variable) {
  AddPenaltyGradients(variable);
  const int bucket = spec_.plan->place(variable).bucket;
  if (--unfinished_[bucket] > 0) return;
  const int end = static_cast<int>(parts_.operations.size());
  if (parts_.sections.empty() || parts_.sections.back().end < end) {
    parts_.sections.push_back({{}, end});
  }
  parts_.sections.back().section.final_buckets.push_back(bucket);
}

void ProgramBuilder::AddPenaltyGradients(int variable) {
  const Regularizer& regularizer = spec_.graph->variables[variable].regularizer;
  if (regularizer.l1 == 0 && regularizer.l2 == 0) return;
  Add({}, [regularizer, values = variables_[variable],
           gradients = gradients_[variable]](const Step& step) {
    AddPenaltyGradient(regularizer, step.batch.regularization_scale,
                       values->count(), values->floats(), gradients->floats());
  });
}

ProgramParts ProgramBuilder::Build(const Tensor* output) && {
  parts_.output = output;
  if (!is_training()) ExtendLife(output, std::numeric_limits<int>::max());
  const int end = static_cast<int>(parts_.operations.size());
  if (parts_.sections.empty() || parts_.sections.back().end < end) {
    parts_.sections.push_back({{}, end});
  }
  if (is_training()) {
    std::vector<int>& first = parts_.sections.front().section.final_buckets;
    first.insert(first.begin(), frozen_buckets_.begin(), frozen_buckets_.end());
  }
  std::vector<Lifetime> lifetimes;
  std::vector<Memory*> blocks;
  for (const std::unique_ptr<Memory>& memory : parts_.memories) {
    if (const auto it = lifetimes_.find(memory.get()); it != lifetimes_.end()) {
      lifetimes.push_back(it->second);
      blocks.push_back(memory.get());
    }
  }
  const MemoryPlan plan = PlanMemory(lifetimes);
  for (size_t i = 0; i < blocks.size(); ++i) {
    parts_.offsets.emplace_back(blocks[i], plan.offsets[i]);
  }
  parts_.arena_size_bytes = plan.size_bytes;
  return std::move(parts_);
}

}  // namespace paceline::cpu
