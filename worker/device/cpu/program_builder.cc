#include "worker/device/cpu/program_builder.h"

#include <algorithm>
#include <utility>

#include "worker/device/cpu/kernels/arithmetic.h"
#include "worker/device/cpu/kernels/regularization.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {
namespace {

// Calls, for stretches of elements [begin, end), `neighbours(i, row, count)`
// where the elements from i on are of as many rows, from `row` on, and
// `alike(i, row, count)` where they are all of one.
template <typename Neighbours, typename Alike>
void VisitStretches(const RowGeometry& rows, int64_t begin, int64_t end,
                    Neighbours neighbours, Alike alike) {
  if (rows.size == 1) return neighbours(begin, begin, end - begin);
  const bool are_alike = rows.stride == 1;
  const int64_t length = are_alike ? rows.size : rows.stride;
  for (int64_t i = begin; i < end;) {
    const int64_t count = std::min(length - i % length, end - i);
    const int64_t row = rows.RowOf(i);
    if (are_alike) {
      alike(i, row, count);
    } else {
      neighbours(i, row, count);
    }
    i += count;
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

// Not oneDNN's fpmath mode, which does nothing on processors without AMX.
DataType ProgramBuilder::factor_type() const {
  return spec().precision == Precision::kMixedBFloat16 && !computes_in_float32()
             ? DataType::kBFloat16
             : DataType::kFloat32;
}

dnnl::primitive_attr ProgramBuilder::PrimitiveAttributes() const {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Tensor* ProgramBuilder::NewScratch(int64_t size_bytes) {
  return NewTensor<std::byte>({size_bytes});
}

void ProgramBuilder::Add(const std::vector<const Tensor*>& used,
                         Operation operation) {
  NoteOperation(used);
  operations_.push_back(std::move(operation));
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

void ProgramBuilder::AddRowCopy(int64_t rows, int64_t size, const Tensor* from,
                                int64_t from_offset, const Tensor* to,
                                int64_t to_offset) {
  AddParallel({from, to}, rows, size, [=](int64_t begin, int64_t end) {
    const int64_t from_size = from->count() / rows;
    const int64_t to_size = to->count() / rows;
    for (int64_t row = begin; row < end; ++row) {
      std::copy_n(from->floats() + row * from_size + from_offset, size,
                  to->floats() + row * to_size + to_offset);
    }
  });
}

void ProgramBuilder::AddCopy(const Tensor* from, const Tensor* to) {
  AddRepeat(from, kSingleElements, to);
}

void ProgramBuilder::AddElementwise(const Tensor* a, const Tensor* b,
                                    const RowGeometry& rows,
                                    const Tensor* result,
                                    const ElementwiseKernels& kernels) {
  AddParallel({a, b, result}, result->count(), 1,
              [=](int64_t begin, int64_t end) {
                const float* const left = a->floats();
                const float* const right = b->floats();
                float* const target = result->floats();
                VisitStretches(
                    rows, begin, end,
                    [=](int64_t i, int64_t row, int64_t count) {
                      kernels.arrays(count, left + i, right + row, target + i);
                    },
                    [=](int64_t i, int64_t row, int64_t count) {
                      kernels.number(count, left + i, right[row], target + i);
                    });
              });
}

void ProgramBuilder::AddSum(const Tensor* a, const Tensor* b,
                            const RowGeometry& rows, const Tensor* sum) {
  AddElementwise(a, b, rows, sum, {AddArrays, AddNumber});
}

void ProgramBuilder::AddElementProduct(const Tensor* a, const Tensor* b,
                                       const RowGeometry& rows,
                                       const Tensor* product) {
  AddElementwise(a, b, rows, product, {MultiplyArrays, MultiplyByNumber});
}

void ProgramBuilder::AddRepeat(const Tensor* from, const RowGeometry& rows,
                               const Tensor* to) {
  AddParallel({from, to}, to->count(), 1, [=](int64_t begin, int64_t end) {
    const float* const source = from->floats();
    float* const target = to->floats();
    VisitStretches(
        rows, begin, end,
        [=](int64_t i, int64_t row, int64_t count) {
          std::copy_n(source + row, count, target + i);
        },
        [=](int64_t i, int64_t row, int64_t count) {
          std::fill_n(target + i, count, source[row]);
        });
  });
}

void ProgramBuilder::AddRowSums(const Tensor* from, const RowGeometry& rows,
                                const Tensor* sums) {
  AddParallel({from, sums}, sums->count(), rows.size,
              [=](int64_t begin, int64_t end) {
                SumRows(rows, begin, end, from->floats(), sums->floats());
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

ProgramParts ProgramBuilder::Build(const Tensor* output) && {
  return {TakeLayout(output), std::move(operations_)};
}

}  // namespace paceline::cpu
