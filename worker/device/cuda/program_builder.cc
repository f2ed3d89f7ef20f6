#include "worker/device/cuda/program_builder.h"

#include <utility>

namespace paceline::cuda {

ProgramBuilder::ProgramBuilder(const ProgramSpec& spec, CudaState& state)
    : LayoutBuilder(
          spec,
          [&](int bucket) { return state.device_variables(bucket).data(); },
          [&](int bucket) { return state.device_gradients(bucket).data(); }),
      state_(state) {}

Tensor* ProgramBuilder::NewConstantOf(Shape shape,
                                      std::vector<std::byte> bytes) {
  Tensor* const tensor = NewOutsideArena(std::move(shape));
  parts_.constants.push_back({last_memory(), std::move(bytes)});
  return tensor;
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
  Tensor* const part_sums = NewTensor<double>({parts, columns});
  AddKernel({values, part_sums}, parts * columns, [=] {
    return ColumnSums<float, double>{rows, columns, parts, values->floats(),
                                     part_sums->doubles()};
  });
  AddKernel({part_sums, sums}, columns, [=] {
    return ColumnSums<double, float>{parts, columns, 1, part_sums->doubles(),
                                     sums->floats()};
  });
}

const Tensor* ProgramBuilder::AddSumOfParts(const Tensor* part_sums,
                                            int64_t parts, int64_t columns) {
  Tensor* const sums = NewTensor<double>({columns});
  AddKernel({part_sums, sums}, columns, [=] {
    return ColumnSums<double, double>{parts, columns, 1, part_sums->doubles(),
                                      sums->doubles()};
  });
  return sums;
}

void ProgramBuilder::AddBiasGradient(const Tensor* gradient, int bias) {
  if (!is_trained(bias)) return;
  const int64_t size = gradient->shape.back();
  AddColumnSums(gradient, gradient->count() / size, size, this->gradient(bias));
  FinishGradient(bias);
}

void ProgramBuilder::AddReplicaSum(const Tensor* sums) {
  if (spec().replica_sum == nullptr) return;
  EndSection();
  parts_.exchanges.push_back({section_count(), sums});
}

void ProgramBuilder::AddToMetrics(size_t index, const Tensor* values,
                                  double factor, double examples) {
  const int64_t count = values->count();
  const int64_t parts = PartCount(count);
  Tensor* const sums = NewTensor<double>({parts});
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

void ProgramBuilder::AddCopy(const Tensor* from, const Tensor* to) {
  Add({from, to}, [=](Queue& queue) {
    queue.Copy(to->data(), from->data(),
               from->count() * static_cast<int64_t>(sizeof(float)));
  });
}

void ProgramBuilder::AddSum(const Tensor* a, const Tensor* b,
                            const Tensor* sum) {
  AddKernel({a, b, sum}, sum->count(), [=] {
    return AddElements{a->floats(), b->floats(), sum->floats()};
  });
}

void ProgramBuilder::AddElementProduct(const Tensor* a, const Tensor* b,
                                       const Tensor* product) {
  AddKernel({a, b, product}, product->count(), [=] {
    return MultiplyElements{a->floats(), b->floats(), product->floats()};
  });
}

void ProgramBuilder::AddPenaltyGradient(const Regularizer& regularizer,
                                        const Tensor* values,
                                        const Tensor* gradients) {
  AddKernel({}, values->count(), [=, step = step()] {
    return cuda::AddPenaltyGradient{regularizer.l1, regularizer.l2, step,
                                    values->floats(), gradients->floats()};
  });
}

ProgramParts ProgramBuilder::Build(const Tensor* output) && {
  static_assert(sizeof(float) == sizeof(int32_t));
  constexpr int64_t kElementBytes = sizeof(float);
  parts_.features_size_bytes = features()->count() * kElementBytes;
  parts_.labels_size_bytes = labels()->count() * kElementBytes;
  parts_.layout = TakeLayout(output);
  return std::move(parts_);
}

}  // namespace paceline::cuda
