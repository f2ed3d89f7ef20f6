#include "worker/device/cpu/program_builder.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "worker/device/cpu/kernels/arithmetic.h"
#include "worker/device/cpu/kernels/elementwise.h"
#include "worker/device/cpu/kernels/regularization.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {
namespace {

// Bytes per element.
int64_t BytesOf(const Tensor* tensor) {
  return static_cast<int64_t>(SizeOf(tensor->type));
}

// Calls visit(index in the box, index in the larger tensor) for the first
// element of each of the runs [begin, end). The elements of a run, along axis
// 0, are consecutive in both tensors.
template <typename Visit>
void ForEachRun(const BoxAxes& box, int64_t begin, int64_t end, Visit visit) {
  const int64_t size = box.sizes[0];
  const int64_t rows = box.count > 1 ? box.sizes[1] : 1;
  for (int64_t run = begin; run < end;) {
    int64_t whole = box.WholeIndex(run * size);
    const int64_t stop = std::min(end, run - run % rows + rows);
    for (; run < stop; ++run, whole += box.whole_sizes[0]) {
      visit(run * size, whole);
    }
  }
}

}  // namespace

ProgramBuilder::ProgramBuilder(const ProgramSpec& spec, CpuState& state,
                               const dnnl::engine& engine)
    : LayoutBuilder(
          spec, DataType::kFloat32,
          [&state](int bucket) { return state.host_variables(bucket).data(); },
          [&state](int bucket) { return state.host_gradients(bucket).data(); }),
      engine_(engine) {}

// oneDNN's fpmath mode is no alternative: it has no effect on processors
// without AMX.
DataType ProgramBuilder::compute_type() const {
  return spec().precision == Precision::kMixedBFloat16 && !computes_in_float32()
             ? DataType::kBFloat16
             : DataType::kFloat32;
}

dnnl::primitive_attr ProgramBuilder::PrimitiveAttributes() const {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Tensor* ProgramBuilder::NewConstant(Shape shape, std::vector<float> values) {
  float* const data = parts_.constants.emplace_back(std::move(values)).data();
  return NewOutsideArena(std::move(shape), reinterpret_cast<std::byte*>(data));
}

Tensor* ProgramBuilder::NewScratch(int64_t size_bytes) {
  return NewTensor<std::byte>({size_bytes});
}

void ProgramBuilder::Add(const std::vector<const Tensor*>& used,
                         Operation operation) {
  NoteOperation(used);
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
  AddPrimitives({{primitive, scratchpad, std::move(arguments)}});
}

void ProgramBuilder::AddPrimitives(std::vector<NewPrimitive> primitives) {
  std::vector<const Tensor*> used;
  std::vector<PrimitiveCall> calls;
  for (NewPrimitive& primitive : primitives) {
    calls.push_back(Place(std::move(primitive), used));
  }
  if (calls.size() == 1) return Add(used, std::move(calls[0]));
  Add(used, [calls = std::move(calls)](const Step& step) mutable {
    TakeInTurn(static_cast<int64_t>(calls.size()),
               [&](int64_t index) { calls[index](step); });
  });
}

PrimitiveCall ProgramBuilder::Place(NewPrimitive primitive,
                                    std::vector<const Tensor*>& used) {
  std::vector<PrimitiveArgument>& arguments = primitive.arguments;
  const int64_t scratch_size =
      static_cast<int64_t>(primitive.scratchpad.get_size());
  if (scratch_size > 0) {
    arguments.push_back(
        {DNNL_ARG_SCRATCHPAD, NewScratch(scratch_size), primitive.scratchpad});
  }
  for (const PrimitiveArgument& argument : arguments) {
    used.push_back(argument.tensor);
  }
  return PrimitiveCall(primitive.primitive, engine_, arguments);
}

void ProgramBuilder::AddDoublesCopy(const Tensor* from, int64_t from_begin,
                                    const Tensor* to, int64_t to_begin,
                                    int64_t count) {
  Add({from, to}, [=](const Step&) {
    std::copy_n(from->doubles() + from_begin, count, to->doubles() + to_begin);
  });
}

void ProgramBuilder::AddAllReduce(const Tensor* doubles,
                                  StatisticsAllReduce::Reduction reduction) {
  StatisticsAllReduce* const all_reduce = spec().statistics_all_reduce;
  if (all_reduce == nullptr) return;
  Add({doubles}, [=](const Step&) {
    (all_reduce->*reduction)(
        {doubles->doubles(), static_cast<size_t>(doubles->count())});
  });
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

Tensor* ProgramBuilder::Converted(Tensor* tensor, DataType type) {
  if (tensor->type == type) return tensor;
  Tensor*& converted = converted_[{tensor, type}];
  if (converted == nullptr) {
    converted = NewTensor(tensor->shape, type);
    const auto layout = [count = tensor->count()](DataType type) {
      return Layout({count}, dnnl::memory::format_tag::x, type);
    };
    AddReorder({DNNL_ARG_FROM, tensor, layout(tensor->type)},
               {DNNL_ARG_TO, converted, layout(converted->type)});
  }
  return converted;
}

void ProgramBuilder::NoteOverwriting(const Tensor* tensor) {
  std::erase_if(converted_, [tensor](const auto& entry) {
    return entry.first.first->memory == tensor->memory;
  });
}

void ProgramBuilder::AddBoxRead(const Tensor* from, const BoxAxes& box,
                                const Tensor* to) {
  const int64_t run = box.sizes[0];
  AddParallel({from, to}, to->count() / run, run,
              [=, bytes = BytesOf(to)](int64_t begin, int64_t end) {
                ForEachRun(box, begin, end, [&](int64_t part, int64_t whole) {
                  std::copy_n(from->data() + whole * bytes, run * bytes,
                              to->data() + part * bytes);
                });
              });
}

void ProgramBuilder::AddBoxWrite(const Tensor* from, const BoxAxes& box,
                                 const Tensor* to) {
  const int64_t run = box.sizes[0];
  AddParallel({from, to}, from->count() / run, run,
              [=, bytes = BytesOf(to)](int64_t begin, int64_t end) {
                ForEachRun(box, begin, end, [&](int64_t part, int64_t whole) {
                  std::copy_n(from->data() + part * bytes, run * bytes,
                              to->data() + whole * bytes);
                });
              });
}

void ProgramBuilder::AddPadding(const Tensor* from, const BoxAxes& box,
                                double value, const Tensor* to) {
  CHECK_EQ(value, 0);
  const int64_t run = box.whole_sizes[0];
  const int64_t before = box.starts[0] * BytesOf(to);
  const int64_t size = box.sizes[0] * BytesOf(to);
  AddParallel(
      {from, to}, to->count() / run, run,
      [=, bytes = BytesOf(to)](int64_t begin, int64_t end) {
        for (int64_t i = begin * run; i < end * run; i += run) {
          std::byte* const target = to->data() + i * bytes;
          const int64_t index = box.BoxIndex(i + box.starts[0]);
          if (index < 0) {
            std::fill_n(target, run * bytes, std::byte{0});
            continue;
          }
          std::fill_n(target, before, std::byte{0});
          std::copy_n(from->data() + index * bytes, size, target + before);
          std::fill(target + before + size, target + run * bytes, std::byte{0});
        }
      });
}

void ProgramBuilder::AddPermutation(const Tensor* from,
                                    const PermutedAxes& axes,
                                    const Tensor* to) {
  const int64_t run = axes.sizes[0];
  AddParallel({from, to}, to->count() / run, run,
              [=](int64_t begin, int64_t end) {
                float* target = to->floats() + begin * run;
                for (int64_t i = begin; i < end; ++i) {
                  const float* source = from->floats() + axes.Index(i * run);
                  for (int64_t k = 0; k < run; ++k) {
                    *target++ = source[k * axes.strides[0]];
                  }
                }
              });
}

void ProgramBuilder::AddCopy(const Tensor* from, const Tensor* to) {
  AddParallel({from, to}, from->count(), 1, [=](int64_t begin, int64_t end) {
    std::copy(from->floats() + begin, from->floats() + end,
              to->floats() + begin);
  });
}

void ProgramBuilder::AddLoop(const std::vector<const Tensor*>& used,
                             int64_t steps,
                             absl::FunctionRef<void()> add_body) {
  std::vector<Operation> before = std::exchange(parts_.operations, {});
  const std::vector<MovingMemory> moving = AddLoopBody(add_body);
  std::vector<Operation> body =
      std::exchange(parts_.operations, std::move(before));
  Add(used, [moving, steps, body = std::move(body)](const Step& step) mutable {
    for (int64_t i = 0; i < steps; ++i) {
      MoveTo(i, moving);
      for (Operation& operation : body) operation(step);
    }
  });
}

Tensor* ProgramBuilder::AddRegularizationScale() {
  Tensor* const scale = NewTensor<float>({});
  Add({scale}, [scale](const Step& step) {
    *scale->floats() = static_cast<float>(step.batch.regularization_scale);
  });
  return scale;
}

void ProgramBuilder::AddSum(const Tensor* a, const Tensor* b,
                            const Tensor* sum) {
  AddParallel({a, b, sum}, sum->count(), 1, [=](int64_t begin, int64_t end) {
    ComputeElements(op::ElementFunction::kAdd, end - begin, a->floats() + begin,
                    b->floats() + begin, nullptr, sum->floats() + begin);
  });
}

void ProgramBuilder::AddRowSums(const Tensor* from, const RowGeometry& rows,
                                const Tensor* sums) {
  AddParallel({from, sums}, sums->count(), rows.size,
              [=](int64_t begin, int64_t end) {
                SumRows(rows, begin, end, from->floats(), sums->floats());
              });
}

void ProgramBuilder::AddRowMaxima(const Tensor* from, const RowGeometry& rows,
                                  const Tensor* maxima) {
  AddParallel({from, maxima}, maxima->count(), rows.size,
              [=](int64_t begin, int64_t end) {
                FindRowMaxima(rows, begin, end, from->floats(),
                              maxima->floats());
              });
}

void ProgramBuilder::AddPenaltyGradient(const Regularizer& regularizer,
                                        const Tensor* values,
                                        const Tensor* gradients) {
  Add({}, [=](const Step& step) {
    cpu::AddPenaltyGradient(regularizer, step.batch.regularization_scale,
                            values->count(), values->floats(),
                            gradients->floats());
  });
}

ProgramParts ProgramBuilder::Build(std::vector<const Tensor*> outputs) && {
  parts_.layout = TakeLayout(std::move(outputs));
  return std::move(parts_);
}

}  // namespace paceline::cpu
