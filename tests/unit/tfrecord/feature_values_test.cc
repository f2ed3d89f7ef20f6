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

constexpr size_t kLimit = 100;

std::string BytesOf(float value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

TEST(FeatureValuesTest, NumbersMayBePackedOrNot) {
  const std::string half = BytesOf(0.5F);
  std::vector<float> floats = {9};
  EXPECT_TRUE(ReadFloatList(ProtoField(1, half + BytesOf(-2)) + "\x0d" + half +
                                ProtoField(1, BytesOf(3)),
                            kLimit, floats));
  EXPECT_THAT(floats, ElementsAre(0.5F, -2, 0.5F, 3));
  EXPECT_TRUE(ReadFloatList("", kLimit, floats));
  EXPECT_THAT(floats, IsEmpty());
  EXPECT_TRUE(ReadFloatList(ProtoField(1, ""), kLimit, floats));
  EXPECT_THAT(floats, IsEmpty());

  std::vector<int64_t> ints = {9};
  EXPECT_TRUE(ReadInt64List(
      ProtoField(1, Varint(300) + Varint(UINT64_MAX)) + "\x08" + Varint(7),
      kLimit, ints));
  EXPECT_THAT(ints, ElementsAre(300, -1, 7));
}

TEST(FeatureValuesTest, StringsArePartsOfTheList) {
  const std::string list =
      ProtoField(1, "first") + ProtoField(2, "unknown") + ProtoField(1, "");
  std::vector<absl::string_view> strings;
  EXPECT_TRUE(ReadBytesList(list, kLimit, strings));
  EXPECT_THAT(strings, ElementsAre("first", ""));
  EXPECT_EQ(strings[0].data(), list.data() + 2);
}

TEST(FeatureValuesTest, RefusesMalformedLists) {
  std::vector<float> floats;
  EXPECT_FALSE(ReadFloatList(ProtoField(1, "12345"), kLimit, floats));
  EXPECT_FALSE(
      ReadFloatList("\x0d"
                    "123",
                    kLimit, floats));
  std::vector<int64_t> ints;
  // A number that goes on beyond its field, and one without an end.
  EXPECT_FALSE(ReadInt64List(ProtoField(1, "\x80") + "\x08\x07", kLimit, ints));
  EXPECT_FALSE(ReadInt64List("\x08\x80", kLimit, ints));
  EXPECT_FALSE(ReadInt64List("\x0a\x05\x01", kLimit, ints));
  std::vector<absl::string_view> strings;
  EXPECT_FALSE(
      ReadBytesList("\x0a\x05"
                    "abc",
                    kLimit, strings));
  EXPECT_FALSE(
      ReadBytesList("\x0a\xff\xff\xff\xff\x0f"
                    "abc",
                    kLimit, strings));
}

TEST(FeatureValuesTest, ReadsNoMoreThanShowsThatThereAreTooMany) {
  std::vector<float> floats;
  EXPECT_TRUE(ReadFloatList(ProtoField(1, std::string(4000, '\1')), 2, floats));
  EXPECT_EQ(floats.size(), 3U);
  std::vector<int64_t> ints;
  EXPECT_TRUE(ReadInt64List(ProtoField(1, std::string(1000, '\1')), 2, ints));
  EXPECT_EQ(ints.size(), 3U);
  EXPECT_TRUE(ReadInt64List(ProtoField(1, std::string(2, '\1')), 2, ints));
  EXPECT_EQ(ints.size(), 2U);
  std::vector<absl::string_view> strings;
  EXPECT_TRUE(ReadBytesList(ProtoField(1, "") + ProtoField(1, "") + "\x0a\x05",
                            1, strings));
  EXPECT_EQ(strings.size(), 2U);
}

}  // namespace
}  // namespace paceline
