#include "worker/device/cpu/program_compiler.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/device/cpu/compute_type_outputs.h"
#include "worker/device/cpu/kernels/regularization.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/program/check_model.h"
#include "worker/device/program/program_compiler.h"

namespace paceline::cpu {
namespace {

// Runs `add`, which adds a layer's operations, and returns oneDNN's exceptions
// as errors.
absl::Status CatchErrors(const Layer& layer, absl::FunctionRef<void()> add) {
  try {
    add();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    const std::string message =
        absl::StrCat("layer ", layer.name, ": oneDNN: ", error.what());
    switch (error.status) {
      case dnnl_out_of_memory:
        return absl::ResourceExhaustedError(message);
      case dnnl_unimplemented:
        return absl::UnimplementedError(message);
      default:
        return absl::InternalError(message);
    }
  }
}

class Compiler final : public ProgramCompiler<ProgramBuilder> {
 public:
  Compiler(const ProgramSpec& spec, ProgramBuilder& builder)
      : ProgramCompiler(spec, builder) {}

  using ProgramCompiler::AddOperations;

 private:
  bool StoresComputeType(const Node& node) const override {
    return OutputsComputeType(*spec().graph, node);
  }

  absl::Status AddLayer(const Layer& layer,
                        absl::FunctionRef<void()> add) override {
    return CatchErrors(layer, add);
  }

  absl::string_view device() const override { return "cpu"; }
  absl::Span<const OperationEntry<ProgramBuilder>> operations() const override {
    return Operations();
  }

  void AddToMean(size_t offset, Tensor* values, double weight,
                 int64_t examples) override {
    builder().Add({values}, [=](const Step& step) {
      const float* const begin = values->floats();
      double* const state = &step.metrics->states[offset];
      state[0] += weight * std::accumulate(begin, begin + values->count(), 0.0);
      state[1] += static_cast<double>(examples);
    });
  }

  void AddToState(size_t offset, Tensor* values) override {
    builder().Add({values}, [values, offset](const Step& step) {
      double* const state = &step.metrics->states[offset];
      for (int64_t i = 0; i < values->count(); ++i) {
        state[i] += double{values->floats()[i]};
      }
    });
  }

  Tensor* AddGradientScales(double weight) override {
    Tensor* const scales = builder().NewTensor<float>({spec().batch_size});
    builder().Add({scales}, [=](const Step& step) {
      std::fill_n(scales->floats(), scales->count(),
                  static_cast<float>(weight / step.batch.loss_divisor));
    });
    return scales;
  }

  void AddPenalty(const Regularizer& regularizer, Tensor* variable) override {
    builder().Add({}, [regularizer, variable](const Step& step) {
      step.metrics->states[0] +=
          static_cast<double>(step.batch.count) *
          PenaltyOf(regularizer, variable->count(), variable->floats());
    });
  }
};

}  // namespace

absl::Status CheckModel(const ProgramSpec& spec) {
  return paceline::CheckModel("cpu", Operations(), spec);
}

absl::StatusOr<ProgramParts> CompileProgram(const ProgramSpec& spec,
                                            CpuState& state,
                                            const dnnl::engine& engine) {
  ProgramBuilder builder(spec, state, engine);
  ASSIGN_OR_RETURN(std::vector<const Tensor*> outputs,
                   Compiler(spec, builder).AddOperations());
  return std::move(builder).Build(std::move(outputs));
}

}  // namespace paceline::cpu
