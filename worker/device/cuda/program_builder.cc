#include "worker/device/cuda/program_builder.h"

#include <algorithm>
#include <limits>

#include "glog/logging.h"

namespace paceline::cuda {

ProgramBuilder::ProgramBuilder(const ProgramSpec& spec, CudaState& state)
    : spec_(spec), state_(state) {
  features_ = Own(BatchShape(spec.graph->input_shape()));
  parts_.features = parts_.memories.back().get();
  labels_ = Own(spec.loss->has_sparse_labels()
                    ? Shape{spec.batch_size}
                    : BatchShape(spec.graph->output_shape()));
  parts_.labels = parts_.memories.back().get();
  static_assert(sizeof(float) == sizeof(int32_t));
  constexpr int64_t kElementBytes = sizeof(float);
  parts_.features_size_bytes = features_->count() * kElementBytes;
  parts_.labels_size_bytes = labels_->count() * kElementBytes;
  for (size_t i = 0; i < spec.graph->variables.size(); ++i) {
    const VariablePlace place = spec.plan->place(static_cast<int>(i));
    const Shape& shape = spec.graph->variables[i].shape;
    const int64_t offset = place.offset * kElementBytes;
    variables_.push_back(
        Own(shape, state.device_variables(place.bucket).data() + offset));
    gradients_.push_back(
        Own(shape, state.device_gradients(place.bucket).data() + offset));
  }
  for (const Bucket& bucket : spec.plan->buckets()) {
    unfinished_.push_back(bucket.variables.size());
  }
}

Tensor* ProgramBuilder::Own(Shape shape, std::byte* data) {
  parts_.memories.push_back(std::make_unique<Memory>(Memory{data}));
  parts_.tensors.push_back(std::make_unique<Tensor>(
      Tensor{std::move(shape), parts_.memories.back().get()}));
  return parts_.tensors.back().get();
}

Tensor* ProgramBuilder::NewTensor(const Shape& shape,
                                  int64_t element_size_bytes) {
  Tensor* tensor = Own(shape);
  const int next = static_cast<int>(parts_.operations.size());
  lifetimes_[tensor->memory] = {tensor->count() * element_size_bytes, next,
                                next};
  return tensor;
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

void ProgramBuilder::AddKernel(const std::vector<const Tensor*>& used,
                               int64_t count, std::function<Kernel()> make) {
  Add(used, [count, make = std::move(make)](Queue& queue) {
    queue.ForEach(count, make());
  });
}

void ProgramBuilder::AddProduct(const Tensor* left, const Tensor* right,
                                const Tensor* result, MatrixProduct product) {
  Add({left, right, result}, [=](Queue& queue) {
    MatrixProduct placed = product;
    placed.left = left->floats();
    placed.right = right->floats();
    placed.result = result->floats();
    queue.Multiply(placed);
  });
}

void ProgramBuilder::AddColumnSums(const Tensor* values, int64_t rows,
                                   int64_t columns, const Tensor* sums) {
  const int64_t parts = PartCount(rows);
  Tensor* const part_sums = NewTensor({parts, columns}, sizeof(double));
  AddKernel({values, part_sums}, parts * columns, [=] {
    return ColumnSums<float, double>{rows, columns, parts, values->floats(),
                                     part_sums->doubles()};
  });
  AddKernel({part_sums, sums}, columns, [=] {
    return ColumnSums<double, float>{parts, columns, 1, part_sums->doubles(),
                                     sums->floats()};
  });
}

void ProgramBuilder::AddToMetrics(size_t index, const Tensor* values,
                                  double factor, double examples) {
  const int64_t count = values->count();
  const int64_t parts = PartCount(count);
  Tensor* const sums = NewTensor({parts}, sizeof(double));
  AddKernel({values, sums}, parts, [=] {
    return ColumnSums<double, double>{count, 1, parts, values->doubles(),
                                      sums->doubles()};
  });
  AddKernel({sums}, 1,
            [=, total = state_.total(index), seen = state_.count(index)] {
              return AddToMetric{parts,    sums->doubles(), factor,
                                 examples, total,           seen};
            });
}

void ProgramBuilder::FinishGradient(int variable) {
  AddPenaltyGradients(variable);
  if (spec_.optimizer != nullptr) return;
  const int bucket = spec_.plan->place(variable).bucket;
  if (--unfinished_[bucket] > 0) return;
  EndSection();
  parts_.sections.back().section.final_buckets.push_back(bucket);
}

void ProgramBuilder::EndSection() {
  const int end = static_cast<int>(parts_.operations.size());
  if (parts_.sections.empty() || parts_.sections.back().end < end) {
    parts_.sections.push_back({{}, end});
  }
}

void ProgramBuilder::AddPenaltyGradients(int variable) {
  const Regularizer& regularizer = spec_.graph->variables[variable].regularizer;
  if (regularizer.l1 == 0 && regularizer.l2 == 0) return;
  Tensor* const values = variables_[variable];
  Tensor* const gradients = gradients_[variable];
  AddKernel({}, values->count(), [=, step = step()] {
    return AddPenaltyGradient{regularizer.l1, regularizer.l2, step,
                              values->floats(), gradients->floats()};
  });
}

ProgramParts ProgramBuilder::Build(const Tensor* output) && {
  parts_.output = output;
  if (!is_training()) ExtendLife(output, std::numeric_limits<int>::max());
  EndSection();
  PlanArena();
  return std::move(parts_);
}

void ProgramBuilder::PlanArena() {
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
}

}  // namespace paceline::cuda
