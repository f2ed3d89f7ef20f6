#include "common/tfrecord/feature_values.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tfrecord_builder.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string BytesOf(float value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

TEST(FeatureValuesTest, NumbersMayBePackedOrNot) {
  const std::string half = BytesOf(0.5F);
  std::vector<float> floats = {9};
  EXPECT_TRUE(ReadFloatList(
      Field(1, half + BytesOf(-2)) + "\x0d" + half + Field(1, BytesOf(3)),
      floats));
  EXPECT_THAT(floats, ElementsAre(0.5F, -2, 0.5F, 3));
  EXPECT_TRUE(ReadFloatList("", floats));
  EXPECT_THAT(floats, IsEmpty());
  EXPECT_TRUE(ReadFloatList(Field(1, ""), floats));
  EXPECT_THAT(floats, IsEmpty());

  std::vector<int64_t> ints = {9};
  EXPECT_TRUE(ReadInt64List(
      Field(1, Varint(300) + Varint(UINT64_MAX)) + "\x08" + Varint(7), ints));
  EXPECT_THAT(ints, ElementsAre(300, -1, 7));
}

TEST(FeatureValuesTest, StringsArePartsOfTheList) {
  const std::string list =
      Field(1, "first") + Field(2, "unknown") + Field(1, "");
  std::vector<absl::string_view> strings;
  EXPECT_TRUE(ReadBytesList(list, strings));
  EXPECT_THAT(strings, ElementsAre("first", ""));
  EXPECT_EQ(strings[0].data(), list.data() + 2);
}

TEST(FeatureValuesTest, RefusesMalformedLists) {
  std::vector<float> floats;
  EXPECT_FALSE(ReadFloatList(Field(1, "12345"), floats));
  EXPECT_FALSE(
      ReadFloatList("\x0d"
                    "123",
                    floats));
  std::vector<int64_t> ints;
  // A number that goes on beyond its field, and one without an end.
  EXPECT_FALSE(ReadInt64List(Field(1, "\x80") + "\x08\x07", ints));
  EXPECT_FALSE(ReadInt64List("\x08\x80", ints));
  EXPECT_FALSE(ReadInt64List("\x0a\x05\x01", ints));
  std::vector<absl::string_view> strings;
  EXPECT_FALSE(
      ReadBytesList("\x0a\x05"
                    "abc",
                    strings));
  EXPECT_FALSE(
      ReadBytesList("\x0a\xff\xff\xff\xff\x0f"
                    "abc",
                    strings));
}

}  // namespace
}  // namespace paceline
