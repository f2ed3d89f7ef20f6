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

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "worker/device/cuda/batch_buffers.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/kernels/kernel.h"
#include "worker/device/cuda/operation.h"
#include "worker/device/device.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cuda {

// The result of the builder.
struct ProgramParts {
  struct Constant {
    Memory* memory = nullptr;
    std::vector<std::byte> bytes;
  };
  struct Exchange {
    // Before section `section`,
    int section = 0;
    // the replicas all-reduce by this function
    StatisticsAllReduce::Reduction reduction = nullptr;
    // these doubles.
    const Tensor* doubles = nullptr;
  };
  ProgramLayout layout;
  std::vector<Operation> operations;
  std::vector<Constant> constants;
  // In the order of sections.
  std::vector<Exchange> exchanges;
  BatchSizes batch_sizes;
};

// The optional parts of a MatrixProduct; null: not wanted.
struct ProductExtras {
  const Tensor* bias = nullptr;
  const Tensor* column_sums = nullptr;
};

// The tensors of ConvolutionBlocks.
struct ConvolutionTensors {
  const Tensor* images = nullptr;
  const Tensor* kernel = nullptr;
  const Tensor* outputs = nullptr;
  const Tensor* bias = nullptr;
};

// Sums of parts (sums.h): doubles of shape (parts, columns).
struct PartSums {
  const Tensor* tensor = nullptr;

  int64_t parts() const { return tensor->shape[0]; }
  int64_t columns() const { return tensor->count() / parts(); }
};

class ProgramBuilder final : public LayoutBuilder {
 public:
  // `state` has the variables and gradients.
  ProgramBuilder(const ProgramSpec& spec, CudaState& state, Planning planning);

  // A tensor of constant values. Not in the arena.
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

  // The values of the current step, in GPU memory.
  const StepValues* step() const { return state_.step(); }

  // The loss scale, in GPU memory; null: the loss is not scaled.
  LossScale* loss_scale() const { return state_.loss_scale(); }

  // --- Operations, in the order in which they run. ---

  // `used` lists the tensors that the operation reads or writes.
  void Add(const std::vector<const Tensor*>& used, Operation operation);
  // A kernel over [0, count). `make` is called when the kernel is enqueued,
  // since tensors have addresses only then.
  void AddKernel(const std::vector<const Tensor*>& used, int64_t count,
                 std::function<Kernel()> make);
  // A tensor in the layer's compute type: itself, or a converted copy. Copies
  // of variables are reused in the whole program, others in the layer.
  const Tensor* Computed(const Tensor* tensor);
  // The same for a kernel (..., filters) in the order that cuDNN expects,
  // (filters, ...).
  const Tensor* FiltersFirst(const Tensor* kernel);
  // Where a layer keeps the lines of its channels (batch_normalization.h) for
  // all its operations with these means; null: it has not computed them yet.
  const Tensor*& ChannelLines(const Tensor* means) {
    return copies_[{means, DataType::kFloat32, Form::kChannelLines}];
  }
  // `to` (columns, rows) = the transpose of `from` (rows, columns).
  void AddTranspose(const Tensor* from, int64_t rows, const Tensor* to);
  // result = left · right, with the sizes and transpositions of `product`, in
  // the compute type. Column sums are fused into the product if that is cheap,
  // else computed by AddColumnSums.
  void AddProduct(const Tensor* left, const Tensor* right, const Tensor* result,
                  MatrixProduct product, const ProductExtras& extras = {});
  // Chooses the algorithm. If there is none, TakeError returns an error.
  void AddConvolution(ConvolutionShape shape,
                      const ConvolutionTensors& tensors);
  // output = function(inputs), which are reals of the output's shape. The
  // output may overwrite an input.
  void AddFunction(op::ElementFunction function,
                   absl::Span<const Tensor* const> inputs,
                   const Tensor* output);
  // sums (columns) = Σ over the rows of `values` (rows, columns).
  void AddColumnSums(const Tensor* values, int64_t rows, int64_t columns,
                     const Tensor* sums);
  // Adds up parts until at most kMaxLastParts are left.
  PartSums AddPasses(PartSums sums);
  // The sums of all parts, in float32.
  void AddLastPass(PartSums sums, const Tensor* floats);
  // The same; returns doubles.
  const Tensor* AddSumOfParts(PartSums sums);
  // Adds factor · Σ `values`, which are reals or doubles, to the total at
  // `offset` in the metric states, and `examples` to the count after it.
  void AddToMean(size_t offset, const Tensor* values, double factor,
                 double examples);
  // Adds each of `values`, which are reals, to the state that begins at
  // `offset`.
  void AddToState(size_t offset, const Tensor* values);

  // If the loss is scaled: divides gradients, which must be 16-byte aligned, by
  // the scale.
  void AddUnscaling(float* gradients, int64_t count);
  // If the loss is scaled: the last operations of a step, which count the
  // step's loss unless it is skipped, and adapt the scale.
  void AddLossScaleChange();

  void AddDoublesCopy(const Tensor* from, int64_t from_begin, const Tensor* to,
                      int64_t to_begin, int64_t count) override;
  // Ends the section before it.
  void AddSumAllReduce(const Tensor* sums) override {
    AddAllReduce(sums, &StatisticsAllReduce::AddUp);
  }
  // See StatisticsAllReduce::MergeMoments. Ends the section before it.
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
  // Source and destination may have different types.
  void AddCopy(const Tensor* from, const Tensor* to) override;
  void AddLoop(const std::vector<const Tensor*>& used, int64_t steps,
               absl::FunctionRef<void()> add_body) override;
  Tensor* AddRegularizationScale() override;
  void AddSum(const Tensor* a, const Tensor* b, const Tensor* sum) override;
  void AddRowSums(const Tensor* from, const RowGeometry& rows,
                  const Tensor* sums) override;
  void AddPermutation(const Tensor* from, const PermutedAxes& axes,
                      const Tensor* to) override;
  void AddRowMaxima(const Tensor* from, const RowGeometry& rows,
                    const Tensor* maxima) override;

  // The first error since the last call.
  absl::Status TakeError() { return std::exchange(error_, absl::OkStatus()); }

  // Ends the last section, and plans the memory. `outputs` are the model's.
  ProgramParts Build(std::vector<const Tensor*> outputs) &&;

  void BeginPart(const std::string& owner, bool in_float32) override;

 private:
  // Whether a product can compute these column sums in the same pass.
  bool IsProductVector(const Tensor* column_sums) const;
  // Null, and notes an error, if no algorithm computes the shape.
  std::shared_ptr<ConvolutionPlan> PlanOf(const ConvolutionShape& shape);
  // No effect if there is a single replica.
  void AddAllReduce(const Tensor* doubles,
                    StatisticsAllReduce::Reduction reduction);
  // The host's variables are copied to the GPU before the step.
  bool reads_host_variables() const override { return false; }
  void AddBucketEnd(int bucket, bool is_last) override;
  void AddPenaltyGradient(const Regularizer& regularizer, const Tensor* values,
                          const Tensor* gradients) override;

  // For training: records the first non-finite loss.
  NonfiniteNote nonfinite_note() const;

  Tensor* NewConstantOf(Shape shape, std::vector<std::byte> bytes);

  CudaState& state_;
  const Planning planning_;
  // Those of the program, which runs on one queue: cuDNN may need long to make
  // a plan.
  std::map<ConvolutionShape, std::shared_ptr<ConvolutionPlan>> plans_;
  // All parts but the layout.
  ProgramParts parts_;
  // A tensor in another type, a kernel with its filters first, or the lines of
  // channels of these means.
  enum class Form { kConverted, kFiltersFirst, kChannelLines };
  struct CopyKey {
    const Tensor* original;
    DataType type;
    Form form = Form::kConverted;

    friend auto operator<=>(const CopyKey&, const CopyKey&) = default;
  };
  std::map<CopyKey, const Tensor*> copies_;
  // Null: no layer has asked for it, or one has overwritten it.
  Tensor* regularization_scale_ = nullptr;
  absl::Status error_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PROGRAM_BUILDER_H_
