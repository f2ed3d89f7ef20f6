// Kernels that take four adjacent elements at once, where there are four and
// where there are not, against loops over single elements.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/tensor/float16.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/device/cuda/kernels/arithmetic.h"
#include "worker/device/cuda/kernels/batch_normalization.h"
#include "worker/device/cuda/kernels/bias_relu.h"
#include "worker/device/cuda/kernels/box.h"
#include "worker/device/cuda/kernels/elementwise.h"

namespace paceline::cuda {
namespace {

using testing::ElementsAreArray;

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16,
                               DataType::kBFloat16};

// Whole numbers, which all types have, in an array that begins `offset`
// elements behind an alignment.
class Array {
 public:
  Array(DataType type, int64_t count, int64_t offset = 0)
      : type_(type), count_(count), offset_(offset), memory_(count + 16) {
    for (int64_t i = 0; i < count; ++i) values().Set(i, i % 23 - 9.0f);
  }
  Values values() {
    const auto aligned =
        (reinterpret_cast<uintptr_t>(memory_.data()) + 15) / 16 * 16;
    return {const_cast<void*>(AddressOf(reinterpret_cast<const void*>(aligned),
                                        type_, offset_)),
            type_};
  }
  std::vector<float> read() {
    std::vector<float> result(count_);
    for (int64_t i = 0; i < count_; ++i) result[i] = values()[i];
    return result;
  }

 private:
  DataType type_;
  int64_t count_;
  int64_t offset_;
  std::vector<double> memory_;
};

template <typename Kernel>
void ForEachFour(int64_t count, const Kernel& kernel) {
  for (int64_t block = FourBlocks(count); block-- > 0;) kernel(block);
}

template <typename Check>
void ForEachArray(const Check& check) {
  for (const DataType type : kTypes) {
    for (const int64_t count : {1, 4, 7, 32}) {
      for (const int64_t offset : {0, 1, 3}) {
        SCOPED_TRACE(testing::Message() << DataTypeName(type) << ", " << count
                                        << " from " << offset);
        check(type, count, offset);
      }
    }
  }
}

TEST(FoursTest, SumsAndCopies) {
  ForEachArray([](DataType type, int64_t count, int64_t offset) {
    Array a(type, count, offset);
    Array b(DataType::kFloat32, count);
    std::vector<float> expected = a.read();
    ForEachFour(count, CopyElements{count, a.values(), b.values()});
    EXPECT_THAT(b.read(), ElementsAreArray(expected));
    ApplyFunction add;
    add.function = op::ElementFunction::kAdd;
    add.count = count;
    add.inputs[0] = a.values();
    add.inputs[1] = b.values();
    add.outputs = a.values();
    ForEachFour(count, add);
    for (float& each : expected) each *= 2;
    EXPECT_THAT(a.read(), ElementsAreArray(expected));
  });
}

TEST(FoursTest, BiasOfEachChannel) {
  for (const int64_t channels : {1, 2, 3, 4, 6, 8}) {
    SCOPED_TRACE(channels);
    ForEachArray([&](DataType type, int64_t rows, int64_t offset) {
      const int64_t count = rows * channels;
      Array values(type, count, offset);
      Array bias(DataType::kFloat32, channels);
      std::vector<float> expected = values.read();
      for (int64_t i = 0; i < count; ++i) {
        expected[i] = std::max(0.0f, expected[i] + bias.values()[i % channels]);
      }
      ForEachFour(count, BiasRelu{.count = count,
                                  .has_relu = true,
                                  .channels = channels,
                                  .bias = bias.values(),
                                  .values = values.values()});
      EXPECT_THAT(values.read(), ElementsAreArray(expected));
    });
  }
}

TEST(FoursTest, FunctionsOfOneToThreeInputs) {
  ForEachArray([](DataType type, int64_t count, int64_t offset) {
    Array a(type, count, offset);
    Array b(type, count + 5);
    const std::vector<float> x = a.read();
    const std::vector<float> y = b.read();
    ApplyFunction select;
    select.function = op::ElementFunction::kSelect;
    select.count = count;
    select.inputs[0] = a.values();
    select.inputs[1] = b.values().operator ConstValues().From(5);
    select.inputs[2] = b.values();
    Array result(type, count);
    select.outputs = result.values();
    ForEachFour(count, select);
    std::vector<float> expected(count);
    for (int64_t i = 0; i < count; ++i)
      expected[i] = x[i] != 0 ? y[i + 5] : y[i];
    EXPECT_THAT(result.read(), ElementsAreArray(expected));
    ForEachFour(count, RectifyGradients{count, b.values(), a.values(),
                                        result.values()});
    for (int64_t i = 0; i < count; ++i) expected[i] = x[i] > 0 ? y[i] : 0;
    EXPECT_THAT(result.read(), ElementsAreArray(expected));
  });
}

// (2, 3, columns) + one of smaller shape.
TEST(FoursTest, BroadcastInputs) {
  for (const int64_t columns : {1, 3, 4, 8}) {
    const Shape whole = {2, 3, columns};
    const int64_t count = NumElements(whole);
    for (const Shape& small :
         {Shape{}, Shape{columns}, Shape{3, 1}, Shape{2, 1, columns}, whole}) {
      SCOPED_TRACE(testing::Message()
                   << columns << " columns, rank " << small.size());
      Array a(DataType::kBFloat16, count);
      Array b(DataType::kFloat32, NumElements(small));
      ComputeElementwise kernel;
      kernel.count = count;
      kernel.input_count = 2;
      kernel.instruction_count = 1;
      kernel.inputs[0] = {a.values(), MakeBroadcastAxes(whole, whole)};
      kernel.inputs[1] = {b.values(), MakeBroadcastAxes(small, whole)};
      kernel.instructions[0] = {op::ElementFunction::kAdd, 0, 1};
      Array result(DataType::kFloat32, count);
      kernel.outputs = result.values();
      ForEachFour(count, kernel);
      std::vector<float> expected = a.read();
      for (int64_t i = 0; i < count; ++i) {
        const int64_t column = i % columns;
        const int64_t row = i / columns;
        const int64_t at = small.empty()       ? 0
                           : small.size() == 1 ? column
                           : small.size() == 2 ? row % 3
                           : small[1] == 1     ? row / 3 * columns + column
                                               : i;
        expected[i] += b.values()[at];
      }
      EXPECT_THAT(result.read(), ElementsAreArray(expected));
    }
  }
}

// The middle of each row of `rows` rows.
TEST(FoursTest, Boxes) {
  for (const int64_t unit : {1, 3, 4}) {
    ForEachArray([&](DataType type, int64_t rows, int64_t offset) {
      SCOPED_TRACE(unit);
      const BoxAxes box =
          MakeBoxAxes({0, unit}, {rows, unit}, {rows, 3 * unit});
      const int64_t count = rows * unit;
      Array whole(type, 3 * count, offset);
      Array middle(DataType::kFloat32, count);
      ForEachFour(count, ReadBox{box, count, whole.values(), middle.values()});
      std::vector<float> expected(count);
      std::vector<float> padded(3 * count, 5.0f);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = i / unit * 3 * unit + unit + i % unit;
        expected[i] = whole.values()[at];
        padded[at] = expected[i];
      }
      EXPECT_THAT(middle.read(), ElementsAreArray(expected));
      Array result(type, 3 * count, offset);
      ForEachFour(3 * count, PadBox{box, 3 * count, 5.0f, middle.values(),
                                    result.values()});
      EXPECT_THAT(result.read(), ElementsAreArray(padded));
      Array zeros(DataType::kFloat32, 3 * count);
      const std::vector<float> before = zeros.read();
      ForEachFour(count, WriteBox{box, count, middle.values(), zeros.values()});
      for (int64_t i = 0; i < 3 * count; ++i) {
        if (padded[i] == 5.0f && i / unit % 3 != 1) padded[i] = before[i];
      }
      EXPECT_THAT(zeros.read(), ElementsAreArray(padded));
    });
  }
}

TEST(FoursTest, MomentsOfChannelsWithALargeMean) {
  for (const int64_t channels : {1, 3, 4, 8}) {
    for (const int64_t offset : {0, 1}) {
      constexpr int64_t kRows = 1000;
      constexpr int64_t kParts = 7;
      Array x(DataType::kFloat32, kRows * channels, offset);
      for (int64_t i = 0; i < kRows * channels; ++i) {
        x.values().Set(i, 1e6f + static_cast<float>(i / channels % 2));
      }
      std::vector<double> sums(kParts * 2 * channels);
      const ShiftedSums kernel = {kRows, channels, kParts, x.values(),
                                  sums.data()};
      for (int64_t i = 0; i < kParts * FourBlocks(channels); ++i) kernel(i);
      const ChannelMoments moments = {kRows, channels, kParts, x.values(),
                                      sums.data()};
      for (int64_t c = 0; c < channels; ++c) {
        EXPECT_DOUBLE_EQ(moments.Of(c).first, 1e6 + 0.5) << channels;
        EXPECT_DOUBLE_EQ(moments.Of(c).second, kRows / 4.0) << channels;
      }
    }
  }
}

}  // namespace
}  // namespace paceline::cuda
