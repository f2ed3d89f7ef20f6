#include "common/data_source/convert.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
Elements ElementsOf(ElementType type, const std::vector<T>& values) {
  return {type, reinterpret_cast<const std::byte*>(values.data()),
          static_cast<int64_t>(values.size())};
}

TEST(ConvertTest, ScalesEveryByte) {
  std::vector<uint8_t> bytes(256 + 3);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  std::vector<float> out(bytes.size());
  const auto scale = static_cast<float>(1.0 / 255);
  ConvertScaled(ElementsOf(ElementType::kUint8, bytes), scale, out.data());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(out[i], static_cast<float>(bytes[i]) * scale);
  }
}

TEST(ConvertTest, ConvertsEveryType) {
  std::vector<double> out(2);
  const auto convert = [&out](Elements in) {
    ConvertScaled(in, 0.5, out.data());
    return out;
  };
  EXPECT_THAT(convert(ElementsOf<int8_t>(ElementType::kInt8, {-2, 3})),
              ElementsAre(-1, 1.5));
  EXPECT_THAT(convert(ElementsOf<int16_t>(ElementType::kInt16, {-300, 3})),
              ElementsAre(-150, 1.5));
  EXPECT_THAT(convert(ElementsOf<int32_t>(ElementType::kInt32, {-70000, 3})),
              ElementsAre(-35000, 1.5));
  EXPECT_THAT(convert(ElementsOf<int64_t>(ElementType::kInt64,
                                          {-(int64_t{1} << 40), 3})),
              ElementsAre(-(int64_t{1} << 39), 1.5));
  EXPECT_THAT(convert(ElementsOf<float>(ElementType::kFloat32, {-0.25f, 3})),
              ElementsAre(-0.125, 1.5));
  EXPECT_THAT(convert(ElementsOf<double>(ElementType::kFloat64, {-0.1, 3})),
              ElementsAre(-0.05, 1.5));
}

TEST(ConvertTest, MakesClassIds) {
  std::vector<int32_t> ids(2);
  ASSERT_TRUE(
      ConvertToClassIds(ElementsOf<uint8_t>(ElementType::kUint8, {0, 255}),
                        {256}, ids.data())
          .ok());
  EXPECT_THAT(ids, ElementsAre(0, 255));
  ASSERT_TRUE(
      ConvertToClassIds(ElementsOf<float>(ElementType::kFloat32, {0, 9}), {10},
                        ids.data())
          .ok());
  EXPECT_THAT(ids, ElementsAre(0, 9));
}

TEST(ConvertTest, RefusesWhatIsNoClassId) {
  int32_t id = 0;
  for (const double value : {2.5, -1.0, 10.0, 2147483648.0, std::nan("")}) {
    const absl::Status status = ConvertToClassIds(
        ElementsOf<double>(ElementType::kFloat64, {value}), {10}, &id);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
  }
  EXPECT_THAT(
      std::string(ConvertToClassIds(
                      ElementsOf<uint8_t>(ElementType::kUint8, {10}), {10}, &id)
                      .message()),
      HasSubstr("label is 10, expected a class id from 0 to 9"));
  EXPECT_THAT(
      std::string(
          CheckClassIds(ElementsOf<uint8_t>(ElementType::kUint8, {9, 10}), {10})
              .message()),
      HasSubstr("label 1 is 10, expected a class id from 0 to 9"));
}

TEST(ConvertTest, AClassThatIsIgnoredNeedNotBeOneOfTheModel) {
  std::vector<int32_t> ids(3);
  ASSERT_TRUE(
      ConvertToClassIds(ElementsOf<int64_t>(ElementType::kInt64, {-1, 9, -1}),
                        {10, -1}, ids.data())
          .ok());
  EXPECT_THAT(ids, ElementsAre(-1, 9, -1));
  ASSERT_TRUE(
      ConvertToClassIds(ElementsOf<uint8_t>(ElementType::kUint8, {255, 0, 9}),
                        {10, 255}, ids.data())
          .ok());
  EXPECT_THAT(ids, ElementsAre(255, 0, 9));
  EXPECT_EQ(
      CheckClassIds(ElementsOf<double>(ElementType::kFloat64, {3, -1, -2}),
                    {10, -1})
          .message(),
      "label 2 is -2, expected a class id from 0 to 9, or -1, which is "
      "ignored");
}

}  // namespace
}  // namespace paceline
