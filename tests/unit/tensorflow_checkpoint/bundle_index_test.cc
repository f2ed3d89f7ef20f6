#include "common/tensorflow_checkpoint/bundle_index.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/tensorflow_checkpoint/messages.pb.h"
#include "gmock/gmock.h"
#include "tests/unit/tensorflow_checkpoint/table_builder.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kDtypeUint8 = 4;

class BundleIndexTest : public ::testing::Test {
 protected:
  BundleIndexTest() {
    header_.set_num_shards(2);
    header_.mutable_version()->set_producer(1);
    entry_.set_dtype(static_cast<int>(TensorFlowType::kFloat));
    entry_.mutable_shape()->add_dim()->set_size(3);
    entry_.mutable_shape()->add_dim()->set_size(2);
    entry_.set_shard_id(1);
    entry_.set_offset(100);
    entry_.set_size(24);
    entry_.set_crc32c(77);
  }

  absl::StatusOr<BundleIndex> Read() {
    return ReadBundleIndex(TableOf({{"", header_.SerializeAsString()},
                                    {"a/kernel", entry_.SerializeAsString()}}));
  }

  void ExpectError(absl::StatusCode code, const std::string& message) {
    const absl::Status status = Read().status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  tensorflow::BundleHeader header_;
  tensorflow::BundleEntry entry_;
};

TEST_F(BundleIndexTest, ReadsPlacesOfTensors) {
  const absl::StatusOr<BundleIndex> index = Read();
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->shard_count, 2);
  ASSERT_EQ(index->entries.size(), 1U);
  const BundleEntry& entry = index->entries.at("a/kernel");
  EXPECT_EQ(entry.type, TensorFlowType::kFloat);
  EXPECT_THAT(entry.shape, ElementsAre(3, 2));
  EXPECT_EQ(entry.shard, 1);
  EXPECT_EQ(entry.offset_bytes, 100);
  EXPECT_EQ(entry.size_bytes, 24);
  EXPECT_EQ(entry.masked_crc32c, 77U);
  EXPECT_FALSE(entry.is_in_parts);
}

TEST_F(BundleIndexTest, TypesThatAreNotNamedHaveAnySize) {
  entry_.set_dtype(kDtypeUint8);
  EXPECT_TRUE(Read().ok());
}

TEST_F(BundleIndexTest, RefusesOtherForms) {
  header_.set_endianness(1);
  ExpectError(absl::StatusCode::kUnimplemented, "big-endian");
  header_.set_endianness(0);
  header_.mutable_version()->set_min_consumer(2);
  ExpectError(absl::StatusCode::kUnimplemented,
              "needs a reader of version 2 of the format, expected 1");
}

TEST_F(BundleIndexTest, RefusesNumbersOfShards) {
  for (const int count : {0, -1, 100'000}) {
    header_.set_num_shards(count);
    ExpectError(absl::StatusCode::kDataLoss,
                absl::StrCat("has ", count, " shards, expected 1 to 99999"));
  }
  header_.set_num_shards(2);
  for (const int shard : {-1, 2, INT32_MAX}) {
    entry_.set_shard_id(shard);
    ExpectError(absl::StatusCode::kDataLoss,
                absl::StrCat("a/kernel: is in shard ", shard,
                             ", expected one below 2"));
  }
}

TEST_F(BundleIndexTest, RefusesMoreTensorsThanAModelHas) {
  std::map<std::string, std::string> entries = {
      {"", header_.SerializeAsString()}};
  for (int i = 0; i <= 200'000; ++i) {
    entries[absl::StrFormat("%06d", i)] = entry_.SerializeAsString();
  }
  const absl::Status status = ReadBundleIndex(TableOf(entries)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(status.message(), "has more than 200000 tensors");
}

TEST_F(BundleIndexTest, RefusesPlacesThatAreNegative) {
  entry_.set_offset(-1);
  ExpectError(absl::StatusCode::kDataLoss, "a/kernel: has offset -1");
}

TEST_F(BundleIndexTest, RefusesSizesOfOtherShapes) {
  for (const int64_t size : {int64_t{0}, int64_t{23}, INT64_MAX}) {
    entry_.set_size(size);
    ExpectError(absl::StatusCode::kDataLoss,
                absl::StrCat("a/kernel: has ", size,
                             " bytes, expected 24 for its shape (3, 2)"));
  }
}

TEST_F(BundleIndexTest, RefusesImpossibleShapes) {
  for (const int64_t size : {int64_t{-1}, INT64_MAX, int64_t{1} << 41}) {
    entry_.mutable_shape()->mutable_dim(1)->set_size(size);
    ExpectError(absl::StatusCode::kDataLoss,
                absl::StrCat("a/kernel: a dimension of ", size));
  }
  for (int i = 0; i < 10; ++i) entry_.mutable_shape()->add_dim()->set_size(1);
  ExpectError(absl::StatusCode::kDataLoss, "expected at most 8");
  entry_.mutable_shape()->Clear();
  entry_.mutable_shape()->set_unknown_rank(true);
  ExpectError(absl::StatusCode::kDataLoss, "or an unknown number");
}

TEST_F(BundleIndexTest, KnowsTensorsInParts) {
  entry_.add_slices("");
  entry_.set_size(0);
  const absl::StatusOr<BundleIndex> index = Read();
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_TRUE(index->entries.at("a/kernel").is_in_parts);
}

TEST_F(BundleIndexTest, RefusesWhatIsNoMessage) {
  absl::Status status =
      ReadBundleIndex(TableOf({{"", header_.SerializeAsString()},
                               {"a\x1b[2J", "\xff\xff"}}))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a\\x1b[2J: is no BundleEntryProto"));
  status = ReadBundleIndex(TableOf({{"", "\xff\xff"}})).status();
  EXPECT_EQ(status.message(), "its header is no BundleHeaderProto");
  status = ReadBundleIndex(TableOf({})).status();
  EXPECT_EQ(status.message(), "has no header");
  status =
      ReadBundleIndex(TableOf({{"a", entry_.SerializeAsString()}})).status();
  EXPECT_EQ(status.message(), "has no header");
}

// Keys share their beginnings in the table.
TEST_F(BundleIndexTest, RefusesASmallFileOfLongKeys) {
  std::map<std::string, std::string> entries = {
      {"", header_.SerializeAsString()}};
  const std::string start(1 << 20, 'k');
  for (char end = 'a'; end <= 'z'; ++end) {
    for (char more = 'a'; more <= 'd'; ++more) {
      entries[absl::StrCat(start, std::string{end, more})] =
          entry_.SerializeAsString();
    }
  }
  const absl::Status status =
      ReadBundleIndex(TableOf(entries, 64 << 20)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace paceline
