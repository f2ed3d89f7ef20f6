// The kernels of the optimizers against common/optimizer.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/model/philox.h"
#include "common/optimizer/adam.h"
#include "common/optimizer/sgd.h"
#include "gtest/gtest.h"
#include "worker/device/cuda/device_update.h"
#include "worker/device/cuda/kernels/clipping.h"
#include "worker/device/cuda/kernels/optimizer.h"

namespace paceline::cuda {
namespace {

struct alignas(16) Line {
  float values[4];
};

// Elements that start as the kernels ask for it.
class Block {
 public:
  // In (-1, 1), or in (0, 1).
  Block(int64_t count, uint64_t key, bool is_positive)
      : count_(count), lines_(FourBlocks(count)) {
    for (int64_t i = 0; i < count; ++i) {
      const double unit = std::ldexp(Philox(key, i, 0)[0], -32);
      data()[i] = static_cast<float>(is_positive ? unit : 2 * unit - 1);
    }
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

// A range with its slots, twice: for the kernel and for the optimizer.
struct Range {
  explicit Range(int64_t count)
      : values(count, 1, false),
        gradients(count, 2, false),
        slots{{count, 3, false}, {count, 4, true}, {count, 5, true}} {}

  void Apply(const Optimizer& optimizer, int64_t iterations) {
    std::vector<absl::Span<float>> spans;
    for (size_t i = 0; i < optimizer.slot_names().size(); ++i) {
      spans.push_back(slots[i].span());
    }
    optimizer.Apply(iterations,
                    UpdateRange<float>{values.span(), gradients.span(), spans});
  }

  Block values;
  Block gradients;
  Block slots[3];
};

void ExpectSame(Block& actual, Block& expected) {
  const std::vector<float> values = actual.copy();
  const std::vector<float> wanted = expected.copy();
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(values[i], wanted[i], 1e-6 * (1 + std::abs(wanted[i]))) << i;
  }
}

class OptimizerKernelTest : public ::testing::TestWithParam<int64_t> {};

TEST_P(OptimizerKernelTest, SgdIsThatOfTheOptimizer) {
  for (const double momentum : {0.0, 0.9}) {
    for (const bool nesterov : {false, true}) {
      Range actual(GetParam());
      Range expected(GetParam());
      Sgd sgd;
      sgd.momentum = momentum;
      sgd.nesterov = nesterov;
      expected.Apply(sgd, 0);
      const StepValues step = {.step_size = StepSizeOf(sgd, 0)};
      RunOverBlocks(
          SgdUpdate{.count = GetParam(),
                    .values = actual.values.data(),
                    .gradients = actual.gradients.data(),
                    .momenta = momentum == 0 ? nullptr : actual.slots[0].data(),
                    .step = &step,
                    .momentum = static_cast<float>(momentum),
                    .nesterov = nesterov});
      ExpectSame(actual.values, expected.values);
      ExpectSame(actual.slots[0], expected.slots[0]);
    }
  }
}

TEST_P(OptimizerKernelTest, AdamIsThatOfTheOptimizer) {
  for (const bool amsgrad : {false, true}) {
    Range actual(GetParam());
    Range expected(GetParam());
    Adam adam;
    adam.amsgrad = amsgrad;
    expected.Apply(adam, 4);
    const StepValues step = {.step_size = StepSizeOf(adam, 4)};
    RunOverBlocks(AdamUpdate{
        .count = GetParam(),
        .values = actual.values.data(),
        .gradients = actual.gradients.data(),
        .momenta = actual.slots[0].data(),
        .velocities = actual.slots[1].data(),
        .largest_velocities = amsgrad ? actual.slots[2].data() : nullptr,
        .step = &step,
        .one_minus_beta_1 = static_cast<float>(1 - adam.beta_1),
        .one_minus_beta_2 = static_cast<float>(1 - adam.beta_2),
        .epsilon = static_cast<float>(adam.epsilon)});
    ExpectSame(actual.values, expected.values);
    for (int slot = 0; slot < 3; ++slot) {
      ExpectSame(actual.slots[slot], expected.slots[slot]);
    }
  }
}

TEST_P(OptimizerKernelTest, ClipsByValueAndByFactor) {
  Range actual(GetParam());
  Range expected(GetParam());
  const float factor = 0.25f;
  const StepValues step = {.step_size = 0.01f};
  for (float& gradient : expected.gradients.span()) {
    gradient = factor * std::min(std::max(gradient, -0.5f), 0.5f);
  }
  expected.Apply(Sgd(), 0);
  RunOverBlocks(SgdUpdate{.count = GetParam(),
                          .values = actual.values.data(),
                          .gradients = actual.gradients.data(),
                          .step = &step,
                          .clip = {.bound = 0.5f, .factor = &factor}});
  ExpectSame(actual.values, expected.values);
}

TEST_P(OptimizerKernelTest, DifferencesAreAdded) {
  Range actual(GetParam());
  Range expected(GetParam());
  AddDifferences<float>(expected.gradients.span(), expected.values.span());
  RunOverBlocks(DifferencesUpdate{.count = GetParam(),
                                  .values = actual.values.data(),
                                  .differences = actual.gradients.data()});
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
      ScaleGradients{&factor, gradients}(i);
    }
    ExpectSame(actual.gradients, expected.gradients);
  }
}

INSTANTIATE_TEST_SUITE_P(, OptimizerKernelTest,
                         ::testing::Values(1, 3, 4, 5, 127, 1000));

}  // namespace
}  // namespace paceline::cuda
