#include "worker/device/cuda/program_builder.h"

#include <utility>

namespace paceline::cuda {
namespace {

DataType ComputeTypeOf(const ProgramSpec& spec) {
  switch (spec.precision) {
    case Precision::kMixedFloat16:
      return DataType::kFloat16;
    case Precision::kMixedBFloat16:
      return DataType::kBFloat16;
    case Precision::kFloat32:
      break;
  }
  return DataType::kFloat32;
}

}  // namespace

ProgramBuilder::ProgramBuilder(const ProgramSpec& spec, CudaState& state,
                               Planning planning)
    : LayoutBuilder(
          spec, ComputeTypeOf(spec),
          [&](int bucket) { return state.device_variables(bucket).data(); },
          [&](int bucket) { return state.device_gradients(bucket).data(); }),
      state_(state),
      planning_(planning) {}

Tensor* ProgramBuilder::NewConstantOf(Shape shape,
                                      std::vector<std::byte> bytes) {
  Tensor* const tensor = NewOutsideArena(std::move(shape));
  parts_.constants.push_back({last_memory(), std::move(bytes)});
  return tensor;
}

Tensor* ProgramBuilder::NewConstant(Shape shape, std::vector<float> values) {
  const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
  return NewConstantOf(std::move(shape),
                       {begin, begin + values.size() * sizeof(float)});
}

void ProgramBuilder::Add(const std::vector<const Tensor*>& used,
                         Operation operation) {
  NoteOperation(used);
  parts_.operations.push_back(std::move(operation));
}

void ProgramBuilder::AddKernel(const std::vector<const Tensor*>& used,
                               int64_t count, std::function<Kernel()> make) {
  Add(used, [count, make = std::move(make)](Queue& queue) {
    queue.ForEach(count, make());
  });
}

void ProgramBuilder::BeginPart(const std::string& owner, bool in_float32) {
  LayoutBuilder::BeginPart(owner, in_float32);
  // Drop copies in the arena at the end of a layer, so that they do not occupy
  // it for longer.
  std::erase_if(copies_, [this](const auto& entry) {
    return IsInArena(entry.first.original);
  });
}

void ProgramBuilder::NoteOverwriting(const Tensor* tensor) {
  std::erase_if(copies_, [tensor](const auto& entry) {
    return entry.first.original->memory == tensor->memory;
  });
  if (regularization_scale_ != nullptr &&
      regularization_scale_->memory == tensor->memory) {
    regularization_scale_ = nullptr;
  }
}

const Tensor* ProgramBuilder::Computed(const Tensor* tensor) {
  if (tensor->type == compute_type()) return tensor;
  const Tensor*& converted = copies_[{tensor, compute_type()}];
  if (converted == nullptr) {
    converted = NewTensor(tensor->shape);
    AddCopy(tensor, converted);
  }
  return converted;
}

const Tensor* ProgramBuilder::FiltersFirst(const Tensor* kernel) {
  const Tensor*& copy = copies_[{kernel, compute_type(), Form::kFiltersFirst}];
  if (copy == nullptr) {
    Tensor* const filters_first = NewTensor({kernel->count()});
    AddTranspose(kernel, kernel->count() / kernel->shape.back(), filters_first);
    copy = filters_first;
  }
  return copy;
}

void ProgramBuilder::AddTranspose(const Tensor* from, int64_t rows,
                                  const Tensor* to) {
  const int64_t columns = from->count() / rows;
  AddKernel({from, to}, from->count(), [=] {
    return Transpose{rows, columns, ValuesOf(from), ValuesOf(to)};
  });
}

void ProgramBuilder::AddProduct(const Tensor* left, const Tensor* right,
                                const Tensor* result, MatrixProduct product,
                                const ProductExtras& extras) {
  const Tensor* const summed = right;
  const bool sums_apart =
      extras.column_sums != nullptr && !IsProductVector(extras.column_sums);
  const Tensor* const column_sums = sums_apart ? nullptr : extras.column_sums;
  left = Computed(left);
  right = Computed(right);
  // Only a bias of the result's type can be fused.
  const Tensor* const bias =
      extras.bias != nullptr && result->type == compute_type()
          ? Computed(extras.bias)
          : extras.bias;
  std::vector<const Tensor*> used = {left, right, result};
  if (bias != nullptr) used.push_back(bias);
  if (column_sums != nullptr) used.push_back(column_sums);
  Add(used, [=](Queue& queue) {
    MatrixProduct placed = product;
    placed.left = ValuesOf(left);
    placed.right = ValuesOf(right);
    placed.result = ValuesOf(result);
    if (bias != nullptr) placed.bias = ValuesOf(bias);
    placed.column_sums = FloatsOrNull(column_sums);
    queue.Multiply(placed);
  });
  if (sums_apart) {
    AddColumnSums(summed, product.inner, product.columns, extras.column_sums);
  }
}

bool ProgramBuilder::IsProductVector(const Tensor* column_sums) const {
  // Tensors in the arena have no address yet, so their alignment is unknown.
  return compute_type() == DataType::kFloat32 && !IsInArena(column_sums) &&
         reinterpret_cast<uintptr_t>(column_sums->data()) %
                 kProductVectorAlignment ==
             0;
}

void ProgramBuilder::AddConvolution(ConvolutionShape shape,
                                    const ConvolutionTensors& tensors) {
  shape.type = compute_type();
  const std::shared_ptr<ConvolutionPlan> plan = PlanOf(shape);
  if (plan == nullptr) return;
  const int64_t workspace_bytes = plan->workspace_bytes();
  Tensor* const workspace =
      workspace_bytes == 0 ? nullptr : NewTensor<std::byte>({workspace_bytes});
  std::vector<const Tensor*> used = {tensors.images, tensors.kernel,
                                     tensors.outputs};
  if (tensors.bias != nullptr) used.push_back(tensors.bias);
  if (workspace != nullptr) used.push_back(workspace);
  Add(used, [=](Queue& queue) {
    queue.Convolve(
        *plan,
        {.images = ValuesOf(tensors.images),
         .kernel = ValuesOf(tensors.kernel),
         .outputs = ValuesOf(tensors.outputs),
         .bias = FloatsOrNull(tensors.bias),
         .workspace = workspace == nullptr ? nullptr : workspace->data()});
  });
}

std::shared_ptr<ConvolutionPlan> ProgramBuilder::PlanOf(
    const ConvolutionShape& shape) {
  std::shared_ptr<ConvolutionPlan>& plan = plans_[shape];
  if (plan != nullptr) return plan;
  absl::StatusOr<std::unique_ptr<ConvolutionPlan>> made =
      state_.gpu().PlanConvolution(shape, planning_);
  if (made.ok()) {
    plan = *std::move(made);
  } else if (error_.ok()) {
    error_ = made.status();
  }
  return plan;
}

void ProgramBuilder::AddColumnSums(const Tensor* values, int64_t rows,
                                   int64_t columns, const Tensor* sums) {
  if (rows <= kMaxLastParts) {
    AddKernel({values, sums}, FourBlocks(columns), [=] {
      return ColumnSums<float>{rows, columns, 1, ValuesOf(values),
                               sums->floats()};
    });
    return;
  }
  const int64_t parts = FirstPartCount(rows, columns);
  const Tensor* const part_sums = NewTensor<double>({parts, columns});
  AddKernel({values, part_sums}, parts * FourBlocks(columns), [=] {
    return ColumnSums<double>{rows, columns, parts, ValuesOf(values),
                              part_sums->doubles()};
  });
  AddLastPass({part_sums}, sums);
}

PartSums ProgramBuilder::AddPasses(PartSums sums) {
  while (sums.parts() > kMaxLastParts) {
    const int64_t columns = sums.columns();
    const int64_t parts = NextPartCount(sums.parts());
    const Tensor* const next = NewTensor<double>({parts, columns});
    AddKernel({sums.tensor, next}, parts * columns, [=] {
      return SumsOfDoubles<double>{sums.parts(), columns, parts,
                                   sums.tensor->doubles(), next->doubles()};
    });
    sums = {next};
  }
  return sums;
}

void ProgramBuilder::AddLastPass(PartSums sums, const Tensor* floats) {
  sums = AddPasses(sums);
  AddKernel({sums.tensor, floats}, sums.columns(), [=] {
    return SumsOfDoubles<float>{sums.parts(), sums.columns(), 1,
                                sums.tensor->doubles(), floats->floats()};
  });
}

const Tensor* ProgramBuilder::AddSumOfParts(PartSums sums) {
  sums = AddPasses(sums);
  const Tensor* const total = NewTensor<double>({sums.columns()});
  AddKernel({sums.tensor, total}, sums.columns(), [=] {
    return SumsOfDoubles<double>{sums.parts(), sums.columns(), 1,
                                 sums.tensor->doubles(), total->doubles()};
  });
  return total;
}

// Implemented as a column sum over a single row.
void ProgramBuilder::AddDoublesCopy(const Tensor* from, int64_t from_begin,
                                    const Tensor* to, int64_t to_begin,
                                    int64_t count) {
  AddKernel({from, to}, count, [=] {
    return SumsOfDoubles<double>{1, count, 1, from->doubles() + from_begin,
                                 to->doubles() + to_begin};
  });
}

void ProgramBuilder::AddAllReduce(const Tensor* doubles,
                                  StatisticsAllReduce::Reduction reduction) {
  if (spec().statistics_all_reduce == nullptr) return;
  EndSection();
  parts_.exchanges.push_back({section_count(), reduction, doubles});
}

void ProgramBuilder::AddToState(size_t offset, const Tensor* values) {
  AddKernel({values}, values->count(),
            [values, state = state_.metric_state(offset)] {
              return AddToStates{ValuesOf(values), state};
            });
}

void ProgramBuilder::AddToMean(size_t offset, const Tensor* values,
                               double factor, double examples) {
  const int64_t count = values->count();
  const int64_t first_parts = FirstPartCount(count, 1);
  const Tensor* const first = NewTensor<double>({first_parts});
  AddKernel({values, first}, first_parts, [=]() -> Kernel {
    if (values->type == DataType::kFloat64) {
      return SumsOfDoubles<double>{count, 1, first_parts, values->doubles(),
                                   first->doubles()};
    }
    return ColumnSums<double>{count, 1, first_parts, ValuesOf(values),
                              first->doubles()};
  });
  const PartSums sums = AddPasses({first});
  AddToTotal addition = {.parts = sums.parts(),
                         .factor = factor,
                         .examples = examples,
                         .total = state_.metric_state(offset),
                         .count = state_.metric_state(offset + 1)};
  if (offset == 0 && is_training()) {
    if (loss_scale() == nullptr ||
        spec().bucket_layout->updated_buckets().empty()) {
      addition.note = nonfinite_note();
    } else {
      addition.total = &loss_scale()->loss_total;
      addition.count = &loss_scale()->loss_count;
    }
  }
  AddKernel({sums.tensor}, 1, [=]() mutable {
    addition.sums = sums.tensor->doubles();
    return addition;
  });
}

NonfiniteNote ProgramBuilder::nonfinite_note() const {
  return {state_.step(), state_.first_nonfinite_step()};
}

void ProgramBuilder::AddBoxRead(const Tensor* from, const BoxAxes& box,
                                const Tensor* to) {
  AddKernel({from, to}, FourBlocks(to->count()), [=] {
    return ReadBox{box, to->count(), ValuesOf(from), ValuesOf(to)};
  });
}

void ProgramBuilder::AddBoxWrite(const Tensor* from, const BoxAxes& box,
                                 const Tensor* to) {
  AddKernel({from, to}, FourBlocks(from->count()), [=] {
    return WriteBox{box, from->count(), ValuesOf(from), ValuesOf(to)};
  });
}

void ProgramBuilder::AddPadding(const Tensor* from, const BoxAxes& box,
                                double value, const Tensor* to) {
  AddKernel({from, to}, FourBlocks(to->count()), [=] {
    return PadBox{box, to->count(), static_cast<float>(value), ValuesOf(from),
                  ValuesOf(to)};
  });
}

void ProgramBuilder::AddCopy(const Tensor* from, const Tensor* to) {
  AddKernel({from, to}, FourBlocks(from->count()), [=] {
    return CopyElements{from->count(), ValuesOf(from), ValuesOf(to)};
  });
}

void ProgramBuilder::AddLoop(const std::vector<const Tensor*>& used,
                             int64_t steps,
                             absl::FunctionRef<void()> add_body) {
  std::vector<Operation> before = std::exchange(parts_.operations, {});
  const std::vector<MovingMemory> moving = AddLoopBody(add_body);
  std::vector<Operation> body =
      std::exchange(parts_.operations, std::move(before));
  Add(used, [moving, steps, body = std::move(body)](Queue& queue) mutable {
    for (int64_t i = 0; i < steps; ++i) {
      MoveTo(i, moving);
      for (Operation& operation : body) operation(queue);
    }
  });
}

Tensor* ProgramBuilder::AddRegularizationScale() {
  if (regularization_scale_ == nullptr) {
    Tensor* const scale = NewTensor<float>({});
    AddKernel({scale}, 1, [scale, step = step()] {
      return WriteRegularizationScale{step, scale->floats()};
    });
    regularization_scale_ = scale;
  }
  return regularization_scale_;
}

void ProgramBuilder::AddFunction(op::ElementFunction function,
                                 absl::Span<const Tensor* const> inputs,
                                 const Tensor* output) {
  std::vector<const Tensor*> used(inputs.begin(), inputs.end());
  used.push_back(output);
  AddKernel(used, FourBlocks(output->count()), [function, used] {
    ApplyFunction kernel;
    kernel.function = function;
    kernel.count = used.back()->count();
    kernel.outputs = ValuesOf(used.back());
    for (size_t i = 0; i + 1 < used.size(); ++i) {
      kernel.inputs[i] = ValuesOf(used[i]);
    }
    return kernel;
  });
}

void ProgramBuilder::AddSum(const Tensor* a, const Tensor* b,
                            const Tensor* sum) {
  AddFunction(op::ElementFunction::kAdd, {a, b}, sum);
}

void ProgramBuilder::AddRowSums(const Tensor* from, const RowGeometry& rows,
                                const Tensor* sums) {
  const int64_t count = sums->count();
  const Tensor* const floats =
      sums->type == DataType::kFloat32 ? sums : NewTensor<float>(sums->shape);
  const int64_t parts = FirstPartCount(rows.size, count);
  const Tensor* const part_sums = NewTensor<double>({parts, count});
  AddKernel({from, part_sums}, parts * count, [=] {
    return RowPartSums{rows, count, parts, ValuesOf(from),
                       part_sums->doubles()};
  });
  AddLastPass({part_sums}, floats);
  if (floats != sums) AddCopy(floats, sums);
}

void ProgramBuilder::AddPermutation(const Tensor* from,
                                    const PermutedAxes& axes,
                                    const Tensor* to) {
  AddKernel({from, to}, to->count(), [=] {
    return PermuteAxes{axes, ValuesOf(from), ValuesOf(to)};
  });
}

void ProgramBuilder::AddRowMaxima(const Tensor* from, const RowGeometry& rows,
                                  const Tensor* maxima) {
  const int64_t count = maxima->count();
  const int64_t parts = PartCount(rows.size);
  Tensor* const part_maxima = NewTensor<float>({parts, count});
  AddKernel({from, part_maxima}, parts * count, [=] {
    return RowPartMaxima{rows, count, parts, ValuesOf(from),
                         ValuesOf(part_maxima)};
  });
  const RowGeometry columns = {.size = parts, .stride = count};
  AddKernel({part_maxima, maxima}, count, [=] {
    return RowPartMaxima{columns, count, 1, ValuesOf(part_maxima),
                         ValuesOf(maxima)};
  });
}

void ProgramBuilder::AddUnscaling(float* gradients, int64_t count) {
  if (loss_scale() == nullptr) return;
  AddKernel({}, FourBlocks(count),
            [kernel = UnscaleGradients{count, gradients, loss_scale()}] {
              return kernel;
            });
}

void ProgramBuilder::AddLossScaleChange() {
  if (loss_scale() == nullptr) return;
  AddKernel({}, 1,
            [kernel = CountLoss{loss_scale(), state_.metric_state(0),
                                state_.metric_state(1), nonfinite_note()}] {
              return kernel;
            });
  AddKernel({}, 1, [kernel = AdaptLossScale{loss_scale()}] { return kernel; });
}

// After an overflow the gradients become zeros: other replicas may have no
// overflow, and would add NaN or infinity to their sums.
void ProgramBuilder::AddBucketEnd(int bucket, bool is_last) {
  if (loss_scale() == nullptr) return;
  if (spec().bucket_layout->buckets()[bucket].is_trained()) {
    const absl::Span<std::byte> memory = state_.device_gradients(bucket);
    auto* const gradients = reinterpret_cast<float*>(memory.data());
    const auto count = static_cast<int64_t>(memory.size() / sizeof(float));
    AddUnscaling(gradients, count);
    AddKernel({}, FourBlocks(count),
              [kernel = DropOverflow{count, gradients, loss_scale()}] {
                return kernel;
              });
  }
  if (is_last) AddLossScaleChange();
}

void ProgramBuilder::AddPenaltyGradient(const Regularizer& regularizer,
                                        const Tensor* values,
                                        const Tensor* gradients) {
  AddKernel({}, values->count(), [=, step = step(), scale = loss_scale()] {
    return cuda::AddPenaltyGradient{
        regularizer.l1,   regularizer.l2,      step,
        values->floats(), gradients->floats(), scale};
  });
}

ProgramParts ProgramBuilder::Build(std::vector<const Tensor*> outputs) && {
  static_assert(sizeof(float) == sizeof(int32_t));
  constexpr int64_t kElementBytes = sizeof(float);
  for (size_t i = 0; i < spec().graph->inputs.size(); ++i) {
    parts_.batch_sizes.features.push_back(features(i)->count() * kElementBytes);
  }
  for (size_t i = 0; i < spec().outputs.size(); ++i) {
    parts_.batch_sizes.labels.push_back(labels(i)->count() * kElementBytes);
    if (!spec().outputs[i].has_sample_weights) continue;
    parts_.batch_sizes.weights.push_back(weights(i)->count() * kElementBytes);
  }
  parts_.layout = TakeLayout(std::move(outputs));
  return std::move(parts_);
}

}  // namespace paceline::cuda
