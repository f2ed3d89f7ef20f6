// What is the CPU device's own; tests/conformance has what every device must
// do.
#include "worker/device/cpu/cpu_device.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/model/metric_layout.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/gather_rows.h"
#include "common/operations/reduce.h"
#include "common/operations/scan.h"
#include "common/operations/sum_over_replicas.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/benchmark/model_step.h"
#include "tests/conformance/model_under_test.h"
#include "tests/machine.h"
#include "tests/sanitizers/openmp_threads.h"
#include "tests/unit/data/allocation_count.h"
#include "tests/unit/device/composed_layer.h"
#include "tests/unit/device/replicated_labels.h"
#include "tests/unit/model/testing.h"
#include "worker/device/cpu/cpu_state.h"
#include "worker/device/cpu/kernels/batch_normalization.h"
#include "worker/device/cpu/kernels/stored.h"
#include "worker/device/cpu/parallel.h"
#include "worker/device/cpu/program_compiler.h"
#include "worker/device/program/program_layout.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

ModelConfig Network() {
  return {.layers = Yaml("[Input: {shape: [10, 10, 1]},"
                         " Conv2D: {filters: 8, kernel_size: 3,"
                         " activation: relu}, MaxPooling2D: {}, Flatten: {},"
                         " Dense: {units: 3}]"),
          .loss = Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}")};
}

TEST(CpuDeviceTest, LearnsTheTutorial) {
  const ModelBatch batch = TutorialBatch();
  const auto step = TutorialStep(kOpenMpThreads);
  ASSERT_TRUE(step->Run(batch).ok());
  const double first_loss = *step->TakeLoss();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(step->Run(batch).ok());
  ASSERT_TRUE(step->TakeLoss().ok());
  ASSERT_TRUE(step->Run(batch).ok());
  EXPECT_LT(*step->TakeLoss(), first_loss / 2);
}

// Of the training program of these layers.
ProgramLayout LayoutOf(const std::string& layers, Precision precision) {
  const ModelUnderTest model(
      {.layers = Yaml(layers),
       .loss = Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}"),
       .precision = precision});
  const ProgramSpec spec = model.Spec(Mode::kTrain, 2);
  CpuState state(*spec.bucket_layout, MetricLayout(spec.outputs).size(), {});
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return std::move(cpu::CompileProgram(spec, state, engine)->layout);
}

size_t CountOperations(const std::string& layers) {
  return LayoutOf("[Input: {shape: [6, 6, 3]}, " + layers +
                      "Flatten: {}, Dense: {units: 2}]",
                  Precision::kFloat32)
      .operation_owners.size();
}

TEST(CpuDeviceTest, MaxPoolingRectifiesInPassing) {
  const auto convolution = [](const std::string& activation) {
    return "Conv2D: {filters: 4, kernel_size: 3, activation: " + activation +
           "}, ";
  };
  const std::string pooling = "MaxPooling2D: {}, ";
  // Not the first layer, whose convolution pools, too.
  const std::string first = "ZeroPadding2D: {}, " + convolution("linear");
  EXPECT_EQ(CountOperations(first + convolution("relu") + pooling),
            CountOperations(first + convolution("linear") + pooling));
  EXPECT_EQ(CountOperations("Activation: {activation: relu}, " + pooling),
            CountOperations(pooling));
  // Forward and back.
  EXPECT_EQ(CountOperations(convolution("relu")),
            CountOperations(convolution("linear")) + 2);
}

// Tensors of bfloat16 in the training program of these layers.
int64_t CountBFloat16(const std::string& layers) {
  const ProgramLayout layout = LayoutOf(layers, Precision::kMixedBFloat16);
  return std::count_if(layout.tensors.begin(), layout.tensors.end(),
                       [](const std::unique_ptr<Tensor>& tensor) {
                         return tensor->type == DataType::kBFloat16;
                       });
}

// Kernels as oneDNN reads them count for nothing: they are in scratch memory.
TEST(CpuDeviceTest, BFloat16LiesBetweenConvolutions) {
  if (!ProcessorHasBFloat16()) {
    GTEST_SKIP() << "this processor has neither AVX512-BF16 nor AMX";
  }
  ASSERT_TRUE(CpuDevice({}).CanCompute(Precision::kMixedBFloat16));
  const std::string input = "[Input: {shape: [6, 6, 3]}, ";
  const std::string convolution = "Conv2D: {filters: 4, kernel_size: 1}, ";
  const std::string end = "Flatten: {}, Dense: {units: 2}]";
  // Copies of the features and of the gradient by the output.
  EXPECT_EQ(CountBFloat16(input + convolution + end), 2);
  EXPECT_EQ(CountBFloat16(input +
                          "BatchNormalization: {}, "
                          "BatchNormalization: {}, " +
                          end),
            0);
  // A copy of the features; its output, and the gradient by it.
  EXPECT_EQ(
      CountBFloat16(input + convolution + "BatchNormalization: {}, " + end), 3);
  // Of the convolution, the normalization and the padding, and the gradients by
  // the latter two. The gradient by the convolution takes the memory of that by
  // the normalization. Copies of the features and of the gradient by the last
  // convolution.
  EXPECT_EQ(CountBFloat16(input + convolution +
                          "BatchNormalization: {}, ReLU: {}, ZeroPadding2D: "
                          "{}, " +
                          convolution + end),
            7);
}

TEST(CpuDeviceTest, ActivatedConvolutionsGiveFloat32) {
  if (!ProcessorHasBFloat16()) {
    GTEST_SKIP() << "this processor has neither AVX512-BF16 nor AMX";
  }
  const auto count = [](const std::string& first) {
    return CountBFloat16("[Input: {shape: [6, 6, 4]}, " + first +
                         ", DepthwiseConv2D: {kernel_size: 1},"
                         " Flatten: {}, Dense: {units: 2}]");
  };
  // Copies of the features and of the gradient by the first layer's output: a
  // depthwise convolution multiplies what it reads as it is.
  EXPECT_EQ(count("Conv2D: {filters: 4, kernel_size: 1, activation: relu}"), 2);
  // A copy of the features; the output and the gradient by it; a copy of that
  // by the depthwise convolution's output.
  EXPECT_EQ(count("Conv2D: {filters: 4, kernel_size: 1}"), 4);
}

TEST(CpuDeviceTest, ProductsShareWhatIsMultiplied) {
  if (!ProcessorHasBFloat16()) {
    GTEST_SKIP() << "this processor has neither AVX512-BF16 nor AMX";
  }
  const std::string end = ", Dense: {units: 2}]";
  // Of its input, its kernel and the gradient by its output, each read by
  // two or three products. What the loss reads is float32.
  const std::string dense = "Dense: {units: 4, activation: relu}";
  EXPECT_EQ(CountBFloat16("[Input: {shape: [6]}, " + dense + end), 3);
  EXPECT_EQ(
      CountBFloat16("[Input: {shape: [6]}, " + dense + ", " + dense + end), 6);
  // Layers share an input. They get one gradient too, which the rectifier
  // writes over behind the other's products: so it is copied twice.
  EXPECT_EQ(CountBFloat16("[Input: {shape: [6], name: in}, "
                          "Dense: {units: 4, activation: relu, name: a}, "
                          "{Dense: {units: 4, name: b}, inputs: [in]}, "
                          "{Add: {}, inputs: [a, b]}" +
                          end),
            5);
  // So does a normalization.
  EXPECT_EQ(CountBFloat16("[Input: {shape: [6], name: in}, "
                          "Dense: {units: 4, name: a}, "
                          "BatchNormalization: {name: n}, "
                          "{Dense: {units: 4, name: b}, inputs: [in]}, "
                          "{Add: {}, inputs: [n, b]}" +
                          end),
            5);
}

TEST(CpuDeviceTest, NormalizationPassesNanOnInBFloat16) {
  const float inputs[] = {std::nanf(""), 2, -4, 40};
  std::vector<cpu::BFloat16> values(4);
  for (size_t i = 0; i < 4; ++i) cpu::Store(inputs[i], values[i]);
  const float means[] = {1, 0};
  const float scales[] = {2, 1};
  const float offsets[] = {0, 0};
  cpu::NormalizeChannels({.channels = 2,
                          .means = means,
                          .scales = scales,
                          .offsets = offsets,
                          .clamp = {.floor = 0, .ceiling = 6}},
                         0, 2, {values.data(), DataType::kBFloat16},
                         {values.data(), DataType::kBFloat16});
  EXPECT_TRUE(std::isnan(cpu::Load(values[0])));
  EXPECT_EQ(cpu::Load(values[1]), 2);
  EXPECT_EQ(cpu::Load(values[2]), 0);
  EXPECT_EQ(cpu::Load(values[3]), 6);
}

// A training program with a batch of its own.
class TrainingProgram {
 public:
  TrainingProgram(const ModelUnderTest& model, int64_t batch_size,
                  CpuDevice& device, ModelState& state)
      : program_(*device.Compile(model.Spec(Mode::kTrain, batch_size), state)),
        stream_(*device.CreateStream()) {
    const Examples examples = model.SomeExamples(batch_size);
    features_.assign(examples.features[0].begin(), examples.features[0].end());
    labels_.assign(examples.labels[0].begin(), examples.labels[0].end());
    batch_.count = batch_size;
    batch_.features = {{DataType::kFloat32, features_.data()}};
    batch_.labels = {{DataType::kInt32, labels_.data()}};
  }

  void Run() {
    ASSERT_TRUE(program_->SetBatch(batch_, *stream_).ok());
    for (size_t i = 0; i < program_->sections().size(); ++i) {
      ASSERT_TRUE(program_->Enqueue(static_cast<int>(i), *stream_).ok());
    }
  }

 private:
  std::unique_ptr<Program> program_;
  std::unique_ptr<Stream> stream_;
  std::vector<float> features_;
  std::vector<int32_t> labels_;
  Batch batch_;
};

// Calls of malloc in a warm step.
template <typename Step>
int64_t AllocationsOf(const Step& step) {
  for (int i = 0; i < 5; ++i) step();
  const int64_t before = AllocationCount();
  for (int i = 0; i < 10; ++i) step();
  return (AllocationCount() - before) / 10;
}

// oneDNN allocates 5 or 6 times a primitive, of which the step has 10.
TEST(CpuDeviceTest, AllocatesLittleInAStep) {
  if (!kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  constexpr int64_t kMaxAllocations = 80;
  for (const int threads : {1, 2}) {
    const ModelBatch batch = TutorialBatch();
    const auto step = TutorialStep(threads);
    EXPECT_LE(AllocationsOf([&] { EXPECT_TRUE(step->Run(batch).ok()); }),
              kMaxAllocations)
        << threads << " threads";
  }
}

TEST(CpuDeviceTest, AllocatesOnlyInOnednn) {
  if (!kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  const auto allocations_of = [](const std::string& layers) {
    const ModelUnderTest model(
        {.layers = Yaml("[Input: {shape: [10, 10, 8]}, Dense: {units: 8}, " +
                        layers + "Flatten: {}, Dense: {units: 10}]"),
         .loss = "SparseCategoricalCrossentropy",
         .metrics = Yaml("[accuracy]")});
    CpuDevice device({.threads = kOpenMpThreads});
    const auto state = *device.CreateState(model.Spec(Mode::kTrain, 64));
    TrainingProgram program(model, 64, device, *state);
    return AllocationsOf([&] { program.Run(); });
  };
  // None of these is a primitive.
  EXPECT_EQ(allocations_of("MaxPooling2D: {}, AveragePooling2D: {},"
                           " Dropout: {rate: 0.5}, ReLU: {}, Softmax: {},"
                           " Activation: {activation: gelu}, "),
            allocations_of("MaxPooling2D: {}, MaxPooling2D: {}, "));
}

TEST(CpuDeviceTest, ProgramsOfDifferentSizesShareTheState) {
  const ModelUnderTest model(Network());
  CpuDevice device({.threads = 1});
  ModelOnDevice apart_small(model, device);
  ModelOnDevice apart_large(model, device);
  const auto variables = model.SomeVariables();
  apart_small.SetVariables(variables);
  apart_large.SetVariables(variables);
  const Examples few = model.SomeExamples(2);
  const Examples many = model.SomeExamples(50);
  const auto small = apart_small.Train(few).gradients;
  const auto large = apart_large.Train(many).gradients;

  // The arena grows with the second program, and the first follows it.
  ModelOnDevice shared(model, device);
  shared.SetVariables(variables);
  EXPECT_EQ(shared.Train(few).gradients, small);
  EXPECT_EQ(shared.Train(many).gradients, large);
  EXPECT_EQ(shared.Train(few).gradients, small);
}

// Of what has the size of the logits, the logits and their log-probabilities
// lie in memory at once, then these and the gradient.
TEST(CpuDeviceTest, ALossWritesOverWhatNobodyReads) {
  const ModelUnderTest model(
      {.layers = Yaml("[Input: {shape: [1]}, Dense: {units: 5000}]"),
       .loss = Yaml("{SparseCategoricalCrossentropy: {from_logits: true}}")});
  CpuDevice device({.threads = 1});
  const ProgramSpec spec = model.Spec(Mode::kTrain, /*batch_size=*/16);
  auto state = device.CreateState(spec);
  ASSERT_TRUE(state.ok()) << state.status();
  ASSERT_TRUE(device.Compile(spec, **state).ok());
  constexpr int64_t kLogitsBytes = 16 * 5000 * sizeof(float);
  const int64_t arena = static_cast<CpuState&>(**state).arena_size_bytes();
  EXPECT_GE(arena, 2 * kLogitsBytes);
  EXPECT_LT(arena, 2 * kLogitsBytes + kLogitsBytes / 10);
}

// A program that was compiled before the arena grew runs after it.
TEST(CpuDeviceTest, FollowsTheArena) {
  const ModelUnderTest model(Network());
  CpuDevice device({.threads = 1});
  const auto state = *device.CreateState(model.Spec(Mode::kTrain, 2));
  const absl::Span<std::byte> variables = state->host_variables(0);
  std::fill_n(reinterpret_cast<float*>(variables.data()),
              variables.size() / sizeof(float), 0.01f);
  const auto gradients = [&] {
    const absl::Span<std::byte> bytes = state->host_gradients(0);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  TrainingProgram small(model, 2, device, *state);
  small.Run();
  const std::vector<std::byte> before = gradients();
  TrainingProgram large(model, 500, device, *state);
  large.Run();
  EXPECT_NE(gradients(), before);
  small.Run();
  EXPECT_EQ(gradients(), before);
}

TEST(CpuDeviceTest, ThreadsChangeOnlyRounding) {
  const ModelUnderTest model(Network());
  const Examples examples = model.SomeExamples(64);
  std::vector<std::vector<std::vector<double>>> gradients;
  for (const int threads : {1, kOpenMpThreads}) {
    CpuDevice device({.threads = threads});
    ModelOnDevice on_device(model, device);
    on_device.SetVariables(model.SomeVariables());
    gradients.push_back(on_device.Train(examples).gradients);
  }
  for (size_t v = 0; v < gradients[0].size(); ++v) {
    for (size_t i = 0; i < gradients[0][v].size(); ++i) {
      EXPECT_NEAR(gradients[0][v][i], gradients[1][v][i], 1e-5);
    }
  }
}

constexpr char kConvolutions[] =
    "[Input: {shape: [40, 40, 16]},"
    " Conv2D: {filters: 16, kernel_size: 3, strides: 2},"
    " DepthwiseConv2D: {kernel_size: 3},"
    " Conv2D: {filters: 32, kernel_size: 3, groups: 2},"
    " Flatten: {}, Dense: {units: 10}]";

// The gradients of a batch, by variable.
std::vector<std::vector<double>> GradientsOf(const ModelUnderTest& model,
                                             int64_t batch, Device& device) {
  ModelOnDevice on_device(model, device);
  on_device.SetVariables(model.SomeVariables());
  return on_device.Train(model.SomeExamples(batch)).gradients;
}

// A batch of 1 is not split, so its primitives run on all threads, and oneDNN's
// cache has them when a batch of 2 or 4 is split into parts of 1.
void ExpectPartsAddUp(const ModelUnderTest& model, double tolerance) {
  CpuDevice whole({.threads = 1});
  CpuDevice split({.threads = kOpenMpThreads});
  for (const int64_t batch : {1, 2, 3, 4, 16, 37}) {
    const auto expected = GradientsOf(model, batch, whole);
    const auto gradients = GradientsOf(model, batch, split);
    EXPECT_EQ(gradients, GradientsOf(model, batch, split))
        << "a repeat gives the same bits";
    for (size_t v = 0; v < expected.size(); ++v) {
      for (size_t i = 0; i < expected[v].size(); ++i) {
        EXPECT_NEAR(expected[v][i], gradients[v][i], tolerance)
            << "batch of " << batch << ", variable " << v;
      }
    }
  }
}

TEST(CpuDeviceTest, PartsOfABatchAddUp) {
  ExpectPartsAddUp(ModelUnderTest({.layers = Yaml(kConvolutions),
                                   .loss = "SparseCategoricalCrossentropy"}),
                   1e-4);
}

TEST(CpuDeviceTest, PartsOfABatchAddUpInBFloat16) {
  if (!CpuDevice({}).CanCompute(Precision::kMixedBFloat16)) {
    GTEST_SKIP() << "this processor has no AVX512-BF16";
  }
  ExpectPartsAddUp(ModelUnderTest({.layers = Yaml(kConvolutions),
                                   .loss = "SparseCategoricalCrossentropy",
                                   .precision = Precision::kMixedBFloat16}),
                   1e-3);
}

TEST(CpuDeviceTest, TakesDenormalsForZerosOnAllThreads) {
  // In a thread of its own, which has not computed before.
  std::thread([] {
    const ModelBatch batch = TutorialBatch();
    const auto step = TutorialStep(kOpenMpThreads);
    ASSERT_TRUE(step->Run(batch).ok());
    std::vector<float> products(cpu::kMinParallelElements, 1.0f);
    cpu::ParallelFor(cpu::kMinParallelElements, 1,
                     [&](int64_t begin, int64_t end) {
                       const volatile float smallest = 1e-38f;
                       for (int64_t i = begin; i < end; ++i) {
                         products[i] = smallest * 0.1f;
                       }
                     });
    EXPECT_EQ(products, std::vector<float>(cpu::kMinParallelElements, 0.0f));
  }).join();
}

TEST(CpuDeviceTest, RefusesBatchesThatDoNotFit) {
  const ModelUnderTest model(Network());
  CpuDevice device({.threads = 1});
  ModelOnDevice on_device(model, device);
  const std::vector<float> features(3 * 100);
  const std::vector<int32_t> labels(3);
  Batch batch{.count = 3,
              .features = {{DataType::kFloat32, features.data()}},
              .labels = {{DataType::kInt32, labels.data()}}};
  EXPECT_TRUE(on_device.TrySetBatch(batch, 3).ok());

  absl::Status status = on_device.TrySetBatch(batch, 4);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("3 examples"));

  batch.features[0].type = DataType::kUint8;
  status = on_device.TrySetBatch(batch, 3);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("features are uint8"));

  batch.features[0].type = DataType::kFloat32;
  batch.labels[0].type = DataType::kFloat32;
  status = on_device.TrySetBatch(batch, 3);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("labels are float32"));
}

TEST(CpuDeviceTest, ALayerNeedsNothingButItsOperations) {
  EXPECT_TRUE(SupportsComposed(CpuDevice({}), {2}, [](const op::Tensor& x) {
                return x + x;
              }).ok());
}

TEST(CpuDeviceTest, NamesTheOperationThatItLacks) {
  EXPECT_EQ(
      SupportsComposed(
          CpuDevice({}), {2},
          [](const op::Tensor& x) { return op::SumOverReplicas(x); }),
      absl::UnimplementedError("layer composed_1 (Composed): the cpu device "
                               "has no operation SumOverReplicas"));
}

TEST(CpuDeviceTest, NamesTheOperationThatItLacksInTheBodyOfAScan) {
  EXPECT_EQ(SupportsComposed(CpuDevice({}), {2},
                             [](const op::Tensor& x) {
                               auto body = std::make_shared<op::Function>();
                               body->AddResult(op::SumOverReplicas(
                                   body->AddParameter({x.data_type(), {2}})));
                               return op::Scan(body, {.carries = {},
                                                      .sequences = {x},
                                                      .constants = {}})
                                   .outputs[0];
                             }),
            absl::UnimplementedError("layer composed_1 (Composed): the cpu "
                                     "device has no operation "
                                     "SumOverReplicas"));
}

TEST(CpuDeviceTest, NamesTheLossOrMetricThatItCannotCompute) {
  const ModelUnderTest model(
      {.layers = Yaml("[Input: {shape: [3]}, Dense: {units: 2}]"),
       .metrics = Yaml("[mse, binary_accuracy]")});
  const CpuDevice device({});
  ProgramSpec spec = model.Spec(Mode::kTrain, 1);
  EXPECT_TRUE(device.Supports(spec).ok());

  std::vector<std::unique_ptr<const Metric>> metrics;
  metrics.push_back(std::make_unique<ReplicatedAccuracy>());
  spec.outputs[0].metrics = metrics;
  EXPECT_EQ(
      device.Supports(spec),
      absl::UnimplementedError("metric accuracy (ReplicatedAccuracy): the "
                               "cpu device has no operation "
                               "SumOverReplicas"));
  const ReplicatedLoss loss;
  spec.outputs[0].loss = &loss;
  EXPECT_EQ(
      device.Supports(spec),
      absl::UnimplementedError("loss ReplicatedLoss: the cpu device has no "
                               "operation SumOverReplicas"));
}

TEST(CpuDeviceTest, LacksSumsOfIntegers) {
  EXPECT_EQ(
      SupportsComposed(CpuDevice({}), {2},
                       [](const op::Tensor& x) {
                         const op::Tensor ids = op::Cast(x, DataType::kInt32);
                         return x + op::Cast(op::Sum(ids, {1}), x.data_type());
                       }),
      absl::UnimplementedError("layer composed_1 (Composed): the cpu device "
                               "has no operation Reduce"));
}

TEST(CpuDeviceTest, LacksWhatReadsOtherTypesThanItTakes) {
  EXPECT_EQ(
      SupportsComposed(
          CpuDevice({}), {2},
          [](const op::Tensor& x) { return op::SumOverReplicas(x); }),
      absl::UnimplementedError("layer composed_1 (Composed): the cpu "
                               "device has no operation SumOverReplicas"));
  EXPECT_EQ(
      SupportsComposed(CpuDevice({}), {2},
                       [](const op::Tensor& x) {
                         const op::Tensor ids = op::Cast(x, DataType::kInt32);
                         return x + op::Cast(op::SumRows(ids, ids, 1),
                                             x.data_type());
                       }),
      absl::UnimplementedError("layer composed_1 (Composed): the cpu device "
                               "has no operation SumRows"));
}

}  // namespace
}  // namespace paceline
