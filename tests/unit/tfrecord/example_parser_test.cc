#include "common/tfrecord/example_parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tfrecord_builder.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ExampleParserTest, FindsFeaturesByName) {
  const std::string record = ExampleOf({{"label", Int64Feature({7})},
                                        {"image", BytesFeature({"pixels"})},
                                        {"other", FloatFeature({1})}});
  ExampleParser parser({"image", "label", "weight"});
  ASSERT_TRUE(parser.Parse(record).ok());
  EXPECT_EQ(parser.feature(0).kind, FeatureKind::kBytes);
  EXPECT_EQ(parser.feature(0).bytes, ProtoField(1, "pixels"));
  EXPECT_EQ(parser.feature(1).kind, FeatureKind::kInt64);
  EXPECT_EQ(parser.feature(2).kind, FeatureKind::kNone);
  EXPECT_THAT(FeatureNames(record, 9), ElementsAre("label", "image", "other"));

  // Nothing is left of the record before.
  ASSERT_TRUE(parser.Parse("").ok());
  EXPECT_EQ(parser.feature(0).kind, FeatureKind::kNone);
}

TEST(ExampleParserTest, TheLastOfTwoCounts) {
  ExampleParser parser({"x"});
  ASSERT_TRUE(parser
                  .Parse(ExampleOf(
                      {{"x", Int64Feature({1})}, {"x", FloatFeature({2})}}))
                  .ok());
  EXPECT_EQ(parser.feature(0).kind, FeatureKind::kFloat);
  // A feature without a list.
  ASSERT_TRUE(
      parser.Parse(ExampleOf({{"x", Int64Feature({1})}, {"x", ""}})).ok());
  EXPECT_EQ(parser.feature(0).kind, FeatureKind::kNone);
}

TEST(ExampleParserTest, SkipsUnknownFields) {
  // Field 9, of each wire type that is left.
  const std::string unknown = Varint(9 << 3) + Varint(300) +
                              Varint(9 << 3 | 1) + std::string(8, 'x') +
                              Varint(9 << 3 | 5) + std::string(4, 'x');
  ExampleParser parser({"x"});
  ASSERT_TRUE(
      parser.Parse(unknown + ExampleOf({{"x", Int64Feature({1})}})).ok());
  EXPECT_EQ(parser.feature(0).kind, FeatureKind::kInt64);
}

TEST(ExampleParserTest, RefusesWhatIsNoExample) {
  const std::string record = ExampleOf({{"x", Int64Feature({1, 2, 3})}});
  ExampleParser parser({"x"});
  for (size_t size = 1; size < record.size(); ++size) {
    EXPECT_THAT(parser.Parse(record.substr(0, size)).message(),
                HasSubstr("expected a serialized tf.train.Example"))
        << size;
  }
  EXPECT_FALSE(parser.Parse(std::string(1, '\0')).ok());
  // A length above all.
  EXPECT_FALSE(parser.Parse("\x0a\xff\xff\xff\xff\x0f").ok());
  // Groups within groups without an end.
  EXPECT_FALSE(parser.Parse(std::string(100'000, '\x4b')).ok());
}

}  // namespace
}  // namespace paceline
