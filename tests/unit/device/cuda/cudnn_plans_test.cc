// What cuDNN says of the convolutions that it will be asked for. It plans for a
// GPU that is described to it, so none is needed; none runs what was planned.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/device/cuda/plugin/cudnn_engines.h"
#include "worker/device/cuda/plugin/cudnn_graph.h"

namespace paceline::cuda {
namespace {

// As cuDNN writes it. The numbers are from NVIDIA's data sheets, not read from
// GPUs.
std::string Description(int architecture, int multiprocessors,
                        int64_t shared_memory, int64_t memory) {
  return absl::StrCat(
      R"({"cudaDeviceId":0,"deviceVer":)", architecture,
      R"(,"driverVer":13000,"maxGridSize":[2147483647,65535,65535],)",
      R"("maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)",
      R"("multiProcessorCount":)", multiprocessors,
      R"(,"warpSize":32,"maxSharedMemoryPerBlock":49152,)",
      R"("maxSharedMemoryPerBlockOptin":)", shared_memory,
      R"(,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,)",
      R"("maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,)",
      R"("pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,)",
      R"("totalGlobalMem":)", memory,
      R"(,"smClockRateKHz":1400000,"memClockRateKHz":1200000,)",
      R"("l2CacheSize":41943040,"deviceName":"NVIDIA GPU"})");
}

struct GpuKind {
  std::string name;
  std::string description;
};

void PrintTo(const GpuKind& kind, std::ostream* out) { *out << kind.name; }

// `axis` with its output, padded as Keras does.
AxisWindow Axis(AxisWindow axis, bool same) {
  const int64_t extent = (axis.size - 1) * axis.dilation + 1;
  axis.output = same ? (axis.input + axis.stride - 1) / axis.stride
                     : (axis.input - extent) / axis.stride + 1;
  if (same) {
    const int64_t padding =
        (axis.output - 1) * axis.stride + extent - axis.input;
    axis.pad_before = std::max<int64_t>(0, padding) / 2;
  }
  return axis;
}

ConvolutionShape Square(int64_t batch, const AxisWindow& axis, bool same,
                        int64_t channels, int64_t filters, int64_t groups = 1) {
  return {.batch = batch,
          .windows = {Axis(axis, same), Axis(axis, same), channels},
          .filters = filters,
          .groups = groups};
}

// Of the tutorial's CNN, ResNet-50 and MobileNetV2; then what Keras allows
// beyond: padding at one end, dilation, groups, odd sizes.
std::vector<ConvolutionShape> Shapes() {
  return {
      Square(64, {.input = 28, .size = 3}, false, 1, 32),
      Square(64, {.input = 13, .size = 3}, false, 32, 64),
      Square(64, {.input = 230, .size = 7, .stride = 2}, false, 3, 64),
      Square(64, {.input = 56, .size = 3}, true, 64, 64),
      Square(64, {.input = 56, .size = 1, .stride = 2}, false, 256, 512),
      Square(64, {.input = 112, .size = 3}, true, 32, 32, 32),
      Square(64, {.input = 113, .size = 3, .stride = 2}, false, 96, 96, 96),
      Square(8, {.input = 112, .size = 3, .stride = 2}, true, 3, 32),
      Square(8, {.input = 112, .size = 3, .stride = 2}, true, 96, 96, 96),
      Square(8, {.input = 16, .size = 4}, true, 32, 32),
      Square(8, {.input = 14, .size = 3, .dilation = 2}, true, 32, 32),
      Square(8, {.input = 14, .size = 3}, true, 64, 64, 4),
      Square(8, {.input = 15, .size = 3}, true, 6, 12, 6),
      Square(3, {.input = 7, .size = 3}, true, 3, 5),
  };
}

class CudnnPlansTest : public ::testing::TestWithParam<GpuKind> {
 protected:
  CudnnPlansTest() : properties_(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    properties_.SetAll<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                             GetParam().description);
    EXPECT_TRUE(properties_.Finalize().ok());
  }

  // Plans of `shape` for the first engine that supports it.
  absl::Status Plan(const ConvolutionShape& shape, const GpuOptions& options) {
    const absl::StatusOr<CudnnGraph> graph = MakeCudnnGraph(nullptr, shape);
    if (!graph.ok()) return graph.status();
    absl::StatusOr<std::vector<CudnnDescriptor>> engines =
        FindCudnnEngines(graph->graph, &properties_, options, shape.type);
    if (!engines.ok()) return engines.status();
    absl::Status error;
    for (CudnnDescriptor& engine : *engines) {
      error = MakeCudnnPlan(std::move(engine)).status();
      if (error.ok()) break;
    }
    return error;
  }

  size_t EngineCount(const ConvolutionShape& shape, const GpuOptions& options) {
    const absl::StatusOr<CudnnGraph> graph = MakeCudnnGraph(nullptr, shape);
    return FindCudnnEngines(graph->graph, &properties_, options, shape.type)
        ->size();
  }

 private:
  CudnnDescriptor properties_;
};

constexpr ConvolutionPass kPasses[] = {ConvolutionPass::kForward,
                                       ConvolutionPass::kInputGradient,
                                       ConvolutionPass::kKernelGradient};

std::string NameOf(const ConvolutionShape& shape) {
  return absl::StrCat(DataTypeName(shape.type), ", ", shape.windows.y.input,
                      " wide, ", shape.windows.channels, " channels to ",
                      shape.filters);
}

TEST_P(CudnnPlansTest, EveryPassHasAnEngineUnderAllOptions) {
  for (const MathMode math_mode : {MathMode::kFloat32, MathMode::kTf32}) {
    const GpuOptions options = {.math_mode = math_mode, .deterministic = true};
    for (ConvolutionShape shape : Shapes()) {
      SCOPED_TRACE(NameOf(shape));
      for (const ConvolutionPass pass : kPasses) {
        shape.pass = pass;
        EXPECT_EQ(Plan(shape, options), absl::OkStatus());
      }
    }
  }
}

TEST_P(CudnnPlansTest, EveryPassHasAnEngineIn16Bits) {
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    for (ConvolutionShape shape : Shapes()) {
      shape.type = type;
      SCOPED_TRACE(NameOf(shape));
      for (const ConvolutionPass pass : kPasses) {
        shape.pass = pass;
        EXPECT_EQ(Plan(shape, {.deterministic = true}), absl::OkStatus());
      }
    }
  }
}

// In 16 bits no engine takes a bias of float32: our kernel follows there.
TEST_P(CudnnPlansTest, TheForwardFuses) {
  for (ConvolutionShape shape : Shapes()) {
    SCOPED_TRACE(NameOf(shape));
    shape.has_bias = true;
    EXPECT_EQ(Plan(shape, {}), absl::OkStatus());
    shape.has_relu = true;
    EXPECT_EQ(Plan(shape, {}), absl::OkStatus());
  }
}

// What the options leave out is there without them.
TEST_P(CudnnPlansTest, OptionsLeaveEnginesOut) {
  ConvolutionShape shape = Shapes()[1];
  shape.pass = ConvolutionPass::kKernelGradient;
  const GpuOptions tf32 = {.math_mode = MathMode::kTf32};
  const GpuOptions deterministic = {.math_mode = MathMode::kTf32,
                                    .deterministic = true};
  EXPECT_GT(EngineCount(shape, tf32), EngineCount(shape, {}));
  EXPECT_GT(EngineCount(shape, tf32), EngineCount(shape, deterministic));
}

TEST_P(CudnnPlansTest, SaysWhatCannotBeDescribed) {
  ConvolutionShape shape = Shapes()[1];
  shape.windows.y.output += 1;
  shape.windows.x.pad_before = -1;
  const absl::Status status = Plan(shape, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("cuDNN: "));
}

INSTANTIATE_TEST_SUITE_P(
    Gpus, CudnnPlansTest,
    ::testing::Values(
        GpuKind{"a100", Description(800, 108, 166912, 42949672960)},
        GpuKind{"h100", Description(900, 132, 232448, 85899345920)}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace paceline::cuda
