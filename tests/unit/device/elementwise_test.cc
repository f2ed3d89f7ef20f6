#include "worker/device/cpu/operations/elementwise.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace paceline {
namespace {

using op::ElementFunction;

// A tensor with memory of its own, of float32, int32 or bool.
class OwnedTensor {
 public:
  explicit OwnedTensor(Shape shape, DataType type = DataType::kFloat32)
      : bytes_(NumElements(shape) * SizeOf(type)) {
    memory_.data = bytes_.data();
    tensor_ = {std::move(shape), &memory_, type};
  }
  OwnedTensor(const OwnedTensor&) = delete;
  OwnedTensor& operator=(const OwnedTensor&) = delete;

  Tensor* get() { return &tensor_; }
  float At(int64_t i) const {
    switch (tensor_.type) {
      case DataType::kBool:
        return static_cast<float>(tensor_.as<bool>()[i]);
      case DataType::kInt32:
        return static_cast<float>(tensor_.as<int32_t>()[i]);
      default:
        return tensor_.floats()[i];
    }
  }
  // Different values, in whole numbers.
  void Fill(int salt) {
    for (int64_t i = 0; i < tensor_.count(); ++i) {
      const auto number = static_cast<int32_t>((7 * i + salt) % 101 - 50);
      switch (tensor_.type) {
        case DataType::kBool:
          tensor_.as<bool>()[i] = (i + salt) % 3 == 0;
          break;
        case DataType::kInt32:
          tensor_.as<int32_t>()[i] = number;
          break;
        default:
          tensor_.floats()[i] = static_cast<float>(number);
      }
    }
  }

 private:
  std::vector<std::byte> bytes_;
  Memory memory_;
  Tensor tensor_;
};

// a · b + c, where `mask` is set; else a.
std::vector<op::ElementInstruction> MaskedSum() {
  return {{.function = ElementFunction::kMultiply, .a = 0, .b = 1},
          {.function = ElementFunction::kAdd, .a = 4, .b = 2},
          {.function = ElementFunction::kSelect, .a = 3, .b = 5, .c = 0}};
}

// Of element i of `output`, the index in what is broadcast to it.
int64_t IndexIn(const Shape& from, const Shape& output, int64_t i) {
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t back = 1; back <= output.size(); ++back) {
    const int64_t at = i % output[output.size() - back];
    i /= output[output.size() - back];
    if (back > from.size()) continue;
    const int64_t size = from[from.size() - back];
    if (size > 1) index += at * stride;
    stride *= size;
  }
  return index;
}

// The inputs a, b, c have these shapes, the mask that of `mask`. The output is
// computed in parts that end at `ends`, over `a` if `in_place`.
void ExpectMaskedSum(const Shape& a_shape, const Shape& b_shape,
                     const Shape& c_shape, const Shape& mask_shape,
                     std::vector<int64_t> ends, bool in_place = false) {
  OwnedTensor a(a_shape);
  OwnedTensor b(b_shape);
  OwnedTensor c(c_shape);
  OwnedTensor mask(mask_shape, DataType::kBool);
  OwnedTensor separate(a_shape);
  a.Fill(1);
  b.Fill(5);
  c.Fill(8);
  mask.Fill(2);
  std::vector<float> expected;
  for (int64_t i = 0; i < NumElements(a_shape); ++i) {
    const float sum = a.At(i) * b.At(IndexIn(b_shape, a_shape, i)) +
                      c.At(IndexIn(c_shape, a_shape, i));
    expected.push_back(mask.At(IndexIn(mask_shape, a_shape, i)) != 0 ? sum
                                                                     : a.At(i));
  }
  OwnedTensor& output = in_place ? a : separate;
  const cpu::ElementProgram program(
      MaskedSum(), {a.get(), b.get(), c.get(), mask.get()}, output.get());
  ends.push_back(NumElements(a_shape));
  int64_t begin = 0;
  for (const int64_t end : ends) {
    program.Run(begin, end);
    begin = end;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(output.At(static_cast<int64_t>(i)), expected[i])
        << i << " of " << ShapeToString(a_shape) << " with "
        << ShapeToString(b_shape);
  }
}

TEST(ElementProgramTest, WholeInputsOfAllLengths) {
  for (const int64_t size : {1, 255, 256, 257, 1000, 70000}) {
    ExpectMaskedSum({size}, {size}, {size}, {size}, {});
    ExpectMaskedSum({size}, {size}, {1}, {}, {size / 3, size / 2});
  }
}

TEST(ElementProgramTest, ChannelsAreRepeated) {
  for (const int64_t channels : {1, 2, 3, 64, 255, 256, 257, 300}) {
    const Shape image = {3, 7, channels};
    ExpectMaskedSum(image, {channels}, {1}, image, {});
    ExpectMaskedSum(image, {channels}, {channels}, {channels},
                    {channels + 1, 2 * channels + 5});
  }
}

TEST(ElementProgramTest, AxesAreRepeatedInEveryWay) {
  const Shape image = {4, 5, 6, 7};
  ExpectMaskedSum(image, {4, 1, 1, 7}, {7}, {6, 7}, {100, 333});
  ExpectMaskedSum(image, {4, 5, 6, 1}, {4, 1, 6, 1}, {5, 1, 1}, {1, 2, 500});
  ExpectMaskedSum(image, {7}, {6, 7}, {1, 1, 1, 1}, {13});
}

TEST(ElementProgramTest, WritesOverAnInput) {
  ExpectMaskedSum({3, 500}, {500}, {3, 1}, {3, 500}, {701}, /*in_place=*/true);
  ExpectMaskedSum({900}, {900}, {1}, {900}, {257}, /*in_place=*/true);
}

TEST(ElementProgramTest, IdsBecomeReals) {
  OwnedTensor ids({5, 1}, DataType::kInt32);
  OwnedTensor classes({60});
  OwnedTensor whole({5, 60}, DataType::kInt32);
  OwnedTensor output({5, 60});
  ids.Fill(2);
  classes.Fill(30);
  whole.Fill(1);
  // Where the id is the class, the element of `whole`; else 0.
  const cpu::ElementProgram program(
      {{.function = ElementFunction::kEqual, .a = 0, .b = 1},
       {.function = ElementFunction::kMultiply, .a = 3, .b = 2}},
      {ids.get(), classes.get(), whole.get()}, output.get());
  program.Run(0, 300);
  int matches = 0;
  for (int64_t i = 0; i < 300; ++i) {
    const bool is_class = ids.At(i / 60) == classes.At(i % 60);
    matches += is_class ? 1 : 0;
    ASSERT_EQ(output.At(i), is_class ? whole.At(i) : 0) << i;
  }
  EXPECT_GT(matches, 0);
  EXPECT_LT(matches, 300);
}

TEST(ElementProgramTest, NoInstructionIsABroadcast) {
  OwnedTensor from({2, 1, 3});
  OwnedTensor to({2, 400, 3});
  from.Fill(3);
  const cpu::ElementProgram program({}, {from.get()}, to.get());
  program.Run(0, 700);
  program.Run(700, 2400);
  for (int64_t i = 0; i < 2400; ++i) {
    ASSERT_EQ(to.At(i), from.At(i / 1200 * 3 + i % 3)) << i;
  }
}

TEST(ElementProgramTest, ANumberFillsTheOutput) {
  OwnedTensor to({700});
  const cpu::ElementProgram program(
      {{.function = ElementFunction::kConstant, .constant = 2.5}}, {},
      to.get());
  program.Run(0, 300);
  program.Run(300, 700);
  for (int64_t i = 0; i < 700; ++i) ASSERT_EQ(to.At(i), 2.5f) << i;
}

}  // namespace
}  // namespace paceline
