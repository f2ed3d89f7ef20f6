#include "worker/device/cuda/program_compiler.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/cuda/device_update.h"
#include "worker/device/cuda/operations/operations.h"
#include "worker/device/program/check_model.h"
#include "worker/device/program/program_compiler.h"

namespace paceline::cuda {
namespace {

class Compiler final : public ProgramCompiler<ProgramBuilder> {
 public:
  Compiler(const ProgramSpec& spec, ProgramBuilder& builder)
      : ProgramCompiler(spec, builder) {}

  using ProgramCompiler::AddOperations;

 private:
  absl::Status AddLayer(const Layer& layer,
                        absl::FunctionRef<void()> add) override {
    add();
    return Annotate(builder().TakeError(), absl::StrCat("layer ", layer.name));
  }

  absl::string_view device() const override { return "cuda"; }
  absl::Span<const OperationEntry<ProgramBuilder>> operations() const override {
    return Operations();
  }

  void AddToMean(size_t offset, Tensor* values, double weight,
                 int64_t examples) override {
    builder().AddToMean(offset, values, weight, static_cast<double>(examples));
  }
  void AddToState(size_t offset, Tensor* values) override {
    builder().AddToState(offset, values);
  }

  Tensor* AddGradientScales(double weight) override {
    Tensor* const scales = builder().NewTensor<float>({spec().batch_size});
    builder().AddKernel(
        {scales}, spec().batch_size,
        [=, step = builder().step(), loss_scale = builder().loss_scale()] {
          return WriteGradientScales{weight, step, loss_scale,
                                     scales->floats()};
        });
    return scales;
  }

  void AddPenalty(const Regularizer& regularizer, Tensor* variable) override {
    const int64_t count = variable->count();
    const int64_t parts = FirstPartCount(count, 1);
    Tensor* const sums = builder().NewTensor<double>({parts});
    builder().AddKernel({sums}, parts, [=] {
      return PenaltySums{regularizer.l1, regularizer.l2,     count,
                         parts,          variable->floats(), sums->doubles()};
    });
    builder().AddToMean(0, sums, static_cast<double>(spec().batch_size),
                        /*examples=*/0);
  }
};

// Outputs of an evaluation are read as float32.
void ConvertToFloat32(std::vector<const Tensor*>& outputs,
                      ProgramBuilder& builder) {
  for (const Tensor*& output : outputs) {
    if (output->type == DataType::kFloat32) continue;
    Tensor* const copy = builder.NewTensor<float>(output->shape);
    builder.AddCopy(output, copy);
    output = copy;
  }
}

}  // namespace

absl::Status CheckModel(const ProgramSpec& spec) {
  return paceline::CheckModel("cuda", Operations(), spec);
}

absl::StatusOr<ProgramParts> CompileProgram(const ProgramSpec& spec,
                                            CudaState& state,
                                            Planning planning) {
  // Each replica has its own loss scale, so synchronized statistics do not work
  // with it. Jobs with both are refused.
  CHECK(state.loss_scale() == nullptr || spec.statistics_all_reduce == nullptr);
  ProgramBuilder builder(spec, state, planning);
  if (spec.batch_size == 0) {
    builder.SetOwner("the update");
    DeviceUpdate(builder, state).AddWithoutGradients();
    return std::move(builder).Build(/*outputs=*/{});
  }
  ASSIGN_OR_RETURN(std::vector<const Tensor*> outputs,
                   Compiler(spec, builder).AddOperations());
  if (builder.is_training() && spec.optimizer != nullptr) {
    builder.SetOwner("the update");
    DeviceUpdate(builder, state).Add();
  }
  if (!builder.is_training()) ConvertToFloat32(outputs, builder);
  return std::move(builder).Build(std::move(outputs));
}

}  // namespace paceline::cuda
