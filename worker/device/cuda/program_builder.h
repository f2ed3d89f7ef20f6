// Collects the operations of a program on a GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PROGRAM_BUILDER_H_
#define PACELINE_WORKER_DEVICE_CUDA_PROGRAM_BUILDER_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "worker/device/cuda/batch_buffers.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/kernels/kernel.h"
#include "worker/device/cuda/operation.h"
#include "worker/device/device.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cuda {

// What the builder makes.
struct ProgramParts {
  struct Constant {
    Memory* memory = nullptr;
    std::vector<std::byte> bytes;
  };
  struct Exchange {
    // Before this section,
    int section = 0;
    // the replicas do this
    StatisticsAllReduce::Reduction reduction = nullptr;
    // with these doubles.
    const Tensor* doubles = nullptr;
  };
  ProgramLayout layout;
  std::vector<Operation> operations;
  std::vector<Constant> constants;
  // In the order of the sections.
  std::vector<Exchange> exchanges;
  BatchSizes batch_sizes;
};

// What MatrixProduct has beside its operands; null: not wanted.
struct ProductExtras {
  const Tensor* bias = nullptr;
  const Tensor* column_sums = nullptr;
};

// As ConvolutionBlocks has them.
struct ConvolutionTensors {
  const Tensor* images = nullptr;
  const Tensor* kernel = nullptr;
  const Tensor* outputs = nullptr;
  const Tensor* bias = nullptr;
};

class ProgramBuilder final : public LayoutBuilder {
 public:
  // `state` holds the variables and gradients.
  ProgramBuilder(const ProgramSpec& spec, CudaState& state, Planning planning);

  // Values that do not change. Not in the arena.
  template <typename T>
  Tensor* NewConstant(const std::vector<T>& values) {
    const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
    return NewConstantOf({static_cast<int64_t>(values.size())},
                         {begin, begin + values.size() * sizeof(T)});
  }

  Tensor* NewMoved(const Tensor* /*from*/, Shape shape) override {
    return NewTensor(std::move(shape));
  }
  Tensor* NewConstant(Shape shape, std::vector<float> values) override;
  void NoteOverwriting(const Tensor* tensor) override;

  // Of the step under way, in the GPU's memory.
  const StepValues* step() const { return state_.step(); }

  // By what the loss is multiplied, there; null: nothing.
  LossScale* loss_scale() const { return state_.loss_scale(); }

  // --- Operations, in the order in which they run. ---

  // `used` are the tensors that it reads or writes.
  void Add(const std::vector<const Tensor*>& used, Operation operation);
  // A kernel over [0, count): `make` is called as it is enqueued, when the
  // tensors have addresses.
  void AddKernel(const std::vector<const Tensor*>& used, int64_t count,
                 std::function<Kernel()> make);
  // A tensor in the type that the layer computes in: itself, or a copy. That of
  // a variable is made once a program, others once a layer.
  const Tensor* Computed(const Tensor* tensor);
  // The same of a kernel (..., filters) as the library's convolutions want it,
  // (filters, ...).
  const Tensor* FiltersFirst(const Tensor* kernel);
  // `to` (columns, rows) = `from` (rows, columns) with its dimensions swapped.
  void AddTranspose(const Tensor* from, int64_t rows, const Tensor* to);
  // result = left · right, with the sizes and transpositions of `product`, in
  // the type that layers compute in. Columns are summed up in passing where
  // that costs little, else by AddColumnSums.
  void AddProduct(const Tensor* left, const Tensor* right, const Tensor* result,
                  MatrixProduct product, const ProductExtras& extras = {});
  // The algorithm is chosen here; TakeError tells if there is none.
  void AddConvolution(ConvolutionShape shape,
                      const ConvolutionTensors& tensors);
  // sums (columns) = Σ over the rows of `values` (rows, columns).
  void AddColumnSums(const Tensor* values, int64_t rows, int64_t columns,
                     const Tensor* sums);
  // The sums (columns) over the parts (parts, columns); both are doubles.
  const Tensor* AddSumOfParts(const Tensor* part_sums, int64_t parts,
                              int64_t columns);
  // Adds factor · Σ `values`, reals or doubles, to the total at `offset` of the
  // metrics' states, and `examples` to the count behind it.
  void AddToMean(size_t offset, const Tensor* values, double factor,
                 double examples);
  // Adds each of `values`, reals, to the states from `offset` on.
  void AddToState(size_t offset, const Tensor* values);

  // Where the loss is scaled: divides gradients, which start on a multiple of
  // 16 bytes, by the scale.
  void AddUnscaling(float* gradients, int64_t count);
  // Where it is, the last operations of a step: its loss is counted unless it
  // is skipped, and the scale follows.
  void AddLossScaleChange();

  void AddDoublesCopy(const Tensor* from, int64_t from_begin, const Tensor* to,
                      int64_t to_begin, int64_t count) override;
  // A section ends before.
  void AddSumAllReduce(const Tensor* sums) override {
    AddAllReduce(sums, &StatisticsAllReduce::AddUp);
  }
  // As StatisticsAllReduce::MergeMoments has them. A section ends before.
  void AddMomentsAllReduce(const Tensor* moments) {
    AddAllReduce(moments, &StatisticsAllReduce::MergeMoments);
  }

  Tensor* AddCall(const PlacedCall& call) override;
  void AddBoxRead(const Tensor* from, const BoxAxes& box,
                  const Tensor* to) override;
  void AddBoxWrite(const Tensor* from, const BoxAxes& box,
                   const Tensor* to) override;
  void AddPadding(const Tensor* from, const BoxAxes& box, double value,
                  const Tensor* to) override;
  // The two may be of different types.
  void AddCopy(const Tensor* from, const Tensor* to) override;
  Tensor* AddRegularizationScale() override;
  void AddSum(const Tensor* a, const Tensor* b, const Tensor* sum) override;
  void AddRowSums(const Tensor* from, const RowGeometry& rows,
                  const Tensor* sums) override;

  // The first error of what was added since the last call.
  absl::Status TakeError() { return std::exchange(error_, absl::OkStatus()); }

  // Ends the last section, and plans the memory. `outputs` are the model's.
  ProgramParts Build(std::vector<const Tensor*> outputs) &&;

  void BeginPart(const std::string& owner, bool in_float32) override;

 private:
  // Whether a product can make them in passing.
  bool IsProductVector(const Tensor* column_sums) const;
  // Alone: nothing.
  void AddAllReduce(const Tensor* doubles,
                    StatisticsAllReduce::Reduction reduction);
  void AddBucketEnd(int bucket, bool is_last) override;
  void AddPenaltyGradient(const Regularizer& regularizer, const Tensor* values,
                          const Tensor* gradients) override;

  // For what is added to the sum of the loss in training.
  NonfiniteNote nonfinite_note() const;

  Tensor* NewConstantOf(Shape shape, std::vector<std::byte> bytes);

  CudaState& state_;
  const Planning planning_;
  // Without the layout.
  ProgramParts parts_;
  // A copy of a tensor in another type, or with its filters first.
  struct CopyKey {
    const Tensor* original;
    DataType type;
    bool has_filters_first = false;

    friend auto operator<=>(const CopyKey&, const CopyKey&) = default;
  };
  std::map<CopyKey, const Tensor*> copies_;
  absl::Status error_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PROGRAM_BUILDER_H_
