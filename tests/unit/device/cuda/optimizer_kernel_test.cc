// The kernels of updates against the updates of the CPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "common/model/philox.h"
#include "common/optimizer/apply_formula.h"
#include "common/optimizer/optimizers.h"
#include "gtest/gtest.h"
#include "tests/unit/optimizer/keras_cases.h"
#include "worker/device/cuda/kernels/accumulate_gradients.h"
#include "worker/device/cuda/kernels/average_variables.h"
#include "worker/device/cuda/kernels/clipping.h"
#include "worker/device/cuda/kernels/slot_update.h"
#include "worker/device/cuda/kernels/sums.h"
#include "worker/device/cuda/kernels/update_by_norms.h"
#include "worker/device/cuda/kernels/update_variables.h"

namespace paceline::cuda {

// An optimizer that no list has: w -= lr · sign(m), where m is a running mean
// of the gradients and the other slot counts the steps.
struct SignFormula {
  static constexpr int kSlotCount = 2;

  double beta = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    T& m = slots[0];
    m += (g - m) * static_cast<T>(1 - beta);
    slots[1] += 1;
    const T rate = static_cast<T>(step[0]);
    w -= m > 0 ? rate : m < 0 ? -rate : T{0};
  }
};

namespace {

struct alignas(16) Line {
  float values[4];
};

// Elements that start as the kernels ask for it.
class Block {
 public:
  explicit Block(int64_t count) : count_(count), lines_(FourBlocks(count)) {}

  // In (-1, 1).
  static Block Random(int64_t count, uint64_t key) {
    Block block(count);
    for (int64_t i = 0; i < count; ++i) {
      block.data()[i] =
          static_cast<float>(std::ldexp(Philox(key, i, 0)[0], -31) - 1);
    }
    return block;
  }

  float* data() { return lines_.front().values; }
  absl::Span<float> span() { return {data(), static_cast<size_t>(count_)}; }
  std::vector<float> copy() { return {data(), data() + count_}; }

 private:
  int64_t count_;
  std::vector<Line> lines_;
};

template <typename Body>
void RunOverBlocks(const Body& body) {
  for (int64_t block = FourBlocks(body.count); block-- > 0;) body(block);
}

// A range with its slots, of zeros.
struct Range {
  explicit Range(int64_t count, int slot_count = 0)
      : count(count),
        values(Block::Random(count, 1)),
        gradients(Block::Random(count, 2)),
        slots(slot_count, Block(count)) {
    for (Block& slot : slots) spans.push_back(slot.span());
  }

  UpdateRange<float> range() {
    return {values.span(), gradients.span(), spans};
  }

  int64_t count;
  Block values;
  Block gradients;
  std::vector<Block> slots;
  std::vector<absl::Span<float>> spans;
};

// What an update does beside its formula.
struct Beside {
  WeightDecay decay = {};
  GradientClip clip = {};
  const LossScale* loss_scale = nullptr;
};

template <typename Formula>
requires(!UpdatesWholeVariables<Formula>) void RunKernel(
    const Formula& formula, const StepValues& step, Range& range,
    const Beside& beside = {}) {
  UpdateVariables<Formula> update;
  update.count = range.count;
  update.tensors[0] = range.values.data();
  for (int slot = 0; slot < Formula::kSlotCount; ++slot) {
    update.tensors[1 + slot] = range.slots[slot].data();
  }
  update.gradients = range.gradients.data();
  update.step = &step;
  update.formula = formula;
  update.clip = beside.clip;
  update.decay = beside.decay;
  update.loss_scale = beside.loss_scale;
  RunOverBlocks(update);
}

template <typename Formula>
SlotUpdate<Formula> UpdateOfSlots(const Formula& formula,
                                  const StepValues& step, Range& range,
                                  const Beside& beside) {
  SlotUpdate<Formula> update;
  for (int slot = 0; slot < Formula::kSlotCount; ++slot) {
    update.slots[slot] = range.slots[slot].data();
  }
  update.gradients = range.gradients.data();
  update.step = &step;
  update.formula = formula;
  update.clip = beside.clip;
  update.loss_scale = beside.loss_scale;
  return update;
}

template <HasNorms Formula>
void RunKernel(const Formula& formula, const StepValues& step, Range& range,
               const Beside& beside = {}) {
  const int64_t parts = PartCount(range.count);
  std::vector<double> sums(2 * parts);
  float rate = 0;
  UpdateSlots<Formula> update;
  update.count = range.count;
  update.parts = parts;
  update.variable = range.values.data();
  update.update = UpdateOfSlots(formula, step, range, beside);
  update.decay = beside.decay;
  update.sums = sums.data();
  MoveByDirection<Formula> move;
  move.variable = range.values.data();
  move.step = &step;
  move.formula = formula;
  move.decay = beside.decay;
  move.loss_scale = beside.loss_scale;
  move.rate = &rate;
  std::copy_n(update.update.slots, Formula::kSlotCount, move.slots);
  for (int64_t part = parts; part-- > 0;) update(part);
  WriteUpdateRate<Formula>{parts, sums.data(), &step, formula, &rate}(0);
  for (int64_t i = range.count; i-- > 0;) move(i);
}

template <UpdatesMatrices Formula>
void RunKernel(const Formula& formula, const StepValues& step, Range& range,
               const Beside& beside = {}) {
  Block direction(range.count);
  FindDirection<Formula> find;
  find.update = UpdateOfSlots(formula, step, range, beside);
  find.direction = direction.data();
  MoveByFactor<Formula> move;
  move.variable = range.values.data();
  move.factor = direction.data();
  move.step = &step;
  move.formula = formula;
  move.decay = beside.decay;
  move.loss_scale = beside.loss_scale;
  for (int64_t i = range.count; i-- > 0;) find(i);
  Orthogonalize(formula.iteration, formula.rows, formula.columns,
                direction.span());
  for (int64_t i = range.count; i-- > 0;) move(i);
}

// Ftrl divides differences of roots by the learning rate, 0.001 in a case,
// which enlarges their rounding.
double ToleranceOf(const Optimizer& optimizer) {
  return optimizer.class_name() == "Ftrl" ? 1e-4 : 1e-6;
}

void ExpectSame(Block& actual, Block& expected, double tolerance = 1e-6) {
  const std::vector<float> values = actual.copy();
  const std::vector<float> wanted = expected.copy();
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(values[i], wanted[i], tolerance * (1 + std::abs(wanted[i])))
        << i;
  }
}

void ExpectSame(Range& actual, Range& expected, double tolerance = 1e-6) {
  ExpectSame(actual.values, expected.values, tolerance);
  for (size_t slot = 0; slot < expected.slots.size(); ++slot) {
    ExpectSame(actual.slots[slot], expected.slots[slot], tolerance);
  }
}

// The shape of `count` elements that has the axes of `shape`.
std::vector<int64_t> ShapeOf(int64_t count, std::vector<int64_t> shape) {
  std::fill(shape.begin(), shape.end(), 1);
  if (shape.empty()) shape.push_back(1);
  if (shape.size() > 1 && count % 5 == 0) {
    shape[0] = 5;
    count /= 5;
  }
  shape.back() = count;
  return shape;
}

class OptimizerKernelTest : public ::testing::TestWithParam<int64_t> {};

TEST_P(OptimizerKernelTest, EveryOptimizerUpdatesAsOnTheCpu) {
  for (const KerasCase& example : KerasCases()) {
    SCOPED_TRACE(example.text);
    const Optimizer& optimizer = *example.optimizer;
    const std::string name = example.name();
    const std::vector<int64_t> shape = ShapeOf(GetParam(), example.shape());
    const UpdatedVariable variable = {name, shape};
    const int slot_count = static_cast<int>(optimizer.slot_names().size());
    Range actual(GetParam(), slot_count);
    Range expected(GetParam(), slot_count);
    for (int slot = 0; slot < slot_count; ++slot) {
      for (Range* const range : {&actual, &expected}) {
        const absl::Span<float> span = range->spans[slot];
        std::fill(span.begin(), span.end(), optimizer.slot_initial_value(slot));
      }
    }
    for (int64_t iterations = 0; iterations < 3; ++iterations) {
      const UpdateStep step = optimizer.StepAfter(iterations);
      UpdateRange<float> range = expected.range();
      range.variable = variable;
      optimizer.Accumulate(step, expected.gradients.span(), range.slots);
      optimizer.Apply(step, range);
      const StepValues values = {.learning_rate = step.learning_rate,
                                 .accumulation = step.accumulation,
                                 .optimizer = optimizer.ScalarsOf(step),
                                 .averaging = optimizer.AveragingOf(step)};
      if (optimizer.accumulates()) {
        RunOverBlocks(cuda::AccumulateGradients{
            GetParam(), actual.gradients.data(),
            actual.slots[optimizer.AccumulatorSlotOf(slot_count)].data(),
            &values, /*loss_scale=*/nullptr});
      }
      std::visit(
          [&](const auto& formula) {
            RunKernel(formula, values, actual,
                      {.decay = {optimizer.WeightDecayOf(variable)}});
          },
          optimizer.FormulaFor(variable));
      if (!optimizer.use_ema) continue;
      RunOverBlocks(AverageVariables{GetParam(), actual.values.data(),
                                     actual.slots.back().data(), &values,
                                     /*loss_scale=*/nullptr});
    }
    ExpectSame(actual, expected, ToleranceOf(optimizer));
  }
}

TEST_P(OptimizerKernelTest, AFormulaIsAllThatAnOptimizerNeeds) {
  const SignFormula formula = {.beta = 0.75};
  Range cpu(GetParam(), 2);
  Range gpu(GetParam(), 2);
  const std::vector<float> before = cpu.values.copy();
  ApplyFormula(formula, {{0.5}}, cpu.range());
  RunKernel(formula, {.optimizer = {{0.5}}}, gpu);
  ExpectSame(gpu, cpu);
  for (int64_t i = 0; i < GetParam(); ++i) {
    const float gradient = cpu.gradients.data()[i];
    EXPECT_EQ(cpu.slots[0].data()[i], 0.25f * gradient);
    EXPECT_EQ(cpu.slots[1].data()[i], 1);
    EXPECT_EQ(cpu.values.data()[i], before[i] - std::copysign(0.5f, gradient));
  }
}

TEST_P(OptimizerKernelTest, ClipsByValueAndByFactor) {
  Range actual(GetParam());
  Range expected(GetParam());
  const float factor = 0.25f;
  for (float& gradient : expected.gradients.span()) {
    gradient = factor * std::min(std::max(gradient, -0.5f), 0.5f);
  }
  ApplyFormula(SgdFormula(), {{0.01}}, expected.range());
  RunKernel(SgdFormula(), {.optimizer = {{0.01}}}, actual,
            {.clip = {.bound = 0.5f, .factor = &factor}});
  ExpectSame(actual, expected);
}

constexpr LambFormula kLamb = {
    .one_minus_beta_1 = 0.1, .one_minus_beta_2 = 0.25, .epsilon = 1e-3};
constexpr StepScalars kLambStep = {{0.01, 0.1, 0.25}};

TEST_P(OptimizerKernelTest, FormulasWithNormsClip) {
  Range actual(GetParam(), 2);
  Range expected(GetParam(), 2);
  const float factor = 0.25f;
  for (float& gradient : expected.gradients.span()) {
    gradient = factor * std::min(std::max(gradient, -0.5f), 0.5f);
  }
  ApplyFormula(kLamb, kLambStep, expected.range());
  RunKernel(kLamb, {.optimizer = kLambStep}, actual,
            {.clip = {.bound = 0.5f, .factor = &factor}});
  ExpectSame(actual, expected);
}

TEST_P(OptimizerKernelTest, FormulasWithNormsSkipAStepWithAnOverflow) {
  Range actual(GetParam(), 2);
  Range expected(GetParam(), 2);
  LossScale scale;
  scale.has_overflow = 1;
  const StepValues step = {.learning_rate = 0.01, .optimizer = kLambStep};
  const Beside beside = {.decay = {0.5}, .loss_scale = &scale};
  RunKernel(kLamb, step, actual, beside);
  ExpectSame(actual, expected);
  scale.has_overflow = 0;
  RunKernel(kLamb, step, actual, beside);
  ApplyFormula(kLamb, kLambStep, expected.range(), /*decay_rate=*/0.005f);
  ExpectSame(actual, expected);
}

TEST_P(OptimizerKernelTest, OnlyTheFirstOfStepsWithAnOverflowSetsAverages) {
  Range range(GetParam(), 1);
  const std::vector<float> values = range.values.copy();
  LossScale scale;
  scale.has_overflow = 1;
  StepValues step = {.averaging = {.momentum = 0.5, .overwrites = true}};
  const AverageVariables update = {GetParam(), range.values.data(),
                                   range.slots[0].data(), &step, &scale};
  RunOverBlocks(update);
  EXPECT_EQ(range.values.copy(), values);
  EXPECT_EQ(range.slots[0].copy(), std::vector<float>(GetParam(), 0));
  step.averaging.momentum = 0;
  RunOverBlocks(update);
  EXPECT_EQ(range.values.copy(), values);
  EXPECT_EQ(range.slots[0].copy(), values);
}

TEST_P(OptimizerKernelTest, AStepWithAnOverflowAccumulatesZeros) {
  Range range(GetParam(), 1);
  const std::vector<float> first = range.gradients.copy();
  LossScale scale;
  StepValues step = {.accumulation = {.steps = 2, .updates = false}};
  const cuda::AccumulateGradients accumulate = {
      GetParam(), range.gradients.data(), range.slots[0].data(), &step, &scale};
  RunOverBlocks(accumulate);
  EXPECT_EQ(range.slots[0].copy(), first);
  for (const bool updates : {false, true}) {
    step.accumulation.updates = updates;
    scale.has_overflow = 1;
    for (float& gradient : range.gradients.span()) {
      gradient = std::numeric_limits<float>::infinity();
    }
    RunOverBlocks(accumulate);
    EXPECT_EQ(range.slots[0].copy(),
              updates ? std::vector<float>(GetParam(), 0) : first);
  }
  for (int64_t i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(range.gradients.data()[i], first[i] / 2);
  }
}

TEST_P(OptimizerKernelTest, FormulasOfMatricesClipAndSkipOverflows) {
  MuonFormula</*kNesterov=*/true> muon;
  muon.rows = 1;
  muon.columns = GetParam();
  muon.momentum = 0.5;
  muon.scale = 2;
  const StepScalars scalars = {{0, 0.01}};
  const StepValues step = {.learning_rate = 0.01, .optimizer = scalars};
  Range actual(GetParam(), 2);
  Range expected(GetParam(), 2);
  const float factor = 0.25f;
  LossScale scale;
  scale.has_overflow = 1;
  Range untouched(GetParam(), 2);
  const Beside beside = {.decay = {0.25},
                         .clip = {.bound = 0.5f, .factor = &factor},
                         .loss_scale = &scale};
  RunKernel(muon, step, actual, beside);
  ExpectSame(actual, untouched);

  Range again(GetParam(), 2);
  for (float& gradient : expected.gradients.span()) {
    gradient = factor * std::min(std::max(gradient, -0.5f), 0.5f);
  }
  ApplyFormula(muon, scalars, expected.range(), /*decay_rate=*/0.0025f);
  scale.has_overflow = 0;
  RunKernel(muon, step, again, beside);
  ExpectSame(again, expected);
}

TEST_P(OptimizerKernelTest, DeltasAreAdded) {
  Range actual(GetParam());
  Range expected(GetParam());
  AddDeltas<float>(expected.gradients.span(), expected.values.span());
  RunOverBlocks(DeltasUpdate{.count = GetParam(),
                             .values = actual.values.data(),
                             .deltas = actual.gradients.data()});
  ExpectSame(actual.values, expected.values);
}

TEST_P(OptimizerKernelTest, GradientsAreScaledByTheirNorm) {
  Clipping clipping;
  for (const double bound : {0.1, 1e6}) {
    clipping.norm = bound;
    Range actual(GetParam());
    Range expected(GetParam());
    double norm =
        SquaredNorm(absl::Span<const float>(expected.gradients.span()));
    clipping.ToFactors(absl::MakeSpan(&norm, 1));
    clipping.Clip(norm, expected.gradients.span());

    const int64_t parts = PartCount(GetParam());
    std::vector<double> sums(parts);
    float factor = 0;
    float* const gradients = actual.gradients.data();
    for (int64_t part = 0; part < parts; ++part) {
      SquareSums{GetParam(), parts, gradients, sums.data()}(part);
    }
    ClipFactor{bound, parts, sums.data(), &factor}(0);
    for (int64_t i = 0; i < GetParam(); ++i) {
      ScaleElements{&factor, gradients}(i);
    }
    ExpectSame(actual.gradients, expected.gradients);
  }
}

INSTANTIATE_TEST_SUITE_P(, OptimizerKernelTest,
                         ::testing::Values(1, 3, 4, 5, 127, 1000));

}  // namespace
}  // namespace paceline::cuda
