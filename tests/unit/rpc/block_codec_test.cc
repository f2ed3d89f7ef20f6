#include "common/rpc/block_codec.h"

#include <cstring>
#include <string>
#include <vector>

#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Span<const std::byte> Bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Keeps what it gets.
class Received : public BlockReceiver {
 public:
  absl::Status Expect(size_t block_count) override {
    expected = block_count;
    return block_count > 3 ? absl::InvalidArgumentError("too many")
                           : absl::OkStatus();
  }
  v1::Block* Begin() override {
    blocks.emplace_back();
    values.emplace_back();
    return &blocks.back();
  }
  absl::StatusOr<absl::Span<std::byte>> BufferFor(const v1::Block& block,
                                                  size_t size) override {
    if (size > 100) return absl::InvalidArgumentError("too large");
    indices_at_place.push_back(block.index());
    values.back().resize(size);
    return absl::Span<std::byte>(
        reinterpret_cast<std::byte*>(values.back().data()), size);
  }
  absl::Status End(const v1::Block& block) override {
    EXPECT_EQ(&block, &blocks.back());
    return absl::OkStatus();
  }

  size_t expected = 0;
  std::vector<v1::Block> blocks;
  std::vector<std::string> values;
  std::vector<uint32_t> indices_at_place;
};

// The bytes in slices of `size`, so that fields lie across their borders.
grpc::ByteBuffer InSlices(const std::string& bytes, size_t size) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += size) {
    slices.emplace_back(bytes.substr(at, size));
  }
  return {slices.data(), slices.size()};
}

std::string Joined(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

absl::Status Read(const std::string& bytes, size_t slice_size,
                  v1::PushRequest& message, Received& received) {
  grpc::ByteBuffer buffer = InSlices(bytes, slice_size);
  return ReadBlocks(buffer, v1::PushRequest::kGradientsFieldNumber, message,
                    received);
}

// A push as any protobuf client sends it.
v1::PushRequest WholePush() {
  v1::PushRequest push;
  push.mutable_worker()->set_rank(3);
  push.set_ps_incarnation(77);
  push.mutable_progress()->mutable_lease()->mutable_sums()->add_states(0.5);
  push.set_pull(true);
  push.mutable_clock()->set_steps(300);
  for (const uint32_t index : {0u, 300u}) {
    v1::Block& block = *push.add_gradients();
    block.set_index(index);
    block.set_dtype(v1::DATA_TYPE_FLOAT32);
    block.set_version(index + 1);
    block.mutable_dense()->set_offset(2 * index);
    block.mutable_dense()->set_values("values of " + std::to_string(index));
  }
  return push;
}

TEST(BlockCodecTest, ReadsWhatProtobufWrites) {
  const v1::PushRequest push = WholePush();
  const std::string bytes = push.SerializeAsString();
  for (size_t slice_size = 1; slice_size <= bytes.size(); ++slice_size) {
    v1::PushRequest message;
    Received received;
    const absl::Status status = Read(bytes, slice_size, message, received);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_THAT(received.values, ElementsAre("values of 0", "values of 300"));
    EXPECT_THAT(received.indices_at_place, ElementsAre(0, 300));
    EXPECT_EQ(received.blocks[1].version(), 301u);
    EXPECT_EQ(received.blocks[1].dense().offset(), 600u);
    EXPECT_TRUE(received.blocks[1].dense().values().empty());
    v1::PushRequest others = push;
    others.clear_gradients();
    EXPECT_EQ(message.SerializeAsString(), others.SerializeAsString());
  }
}

TEST(BlockCodecTest, WritesWhatProtobufReads) {
  v1::PushRequest header = WholePush();
  header.clear_gradients();
  const std::string values = "some values";
  const auto owner = std::make_shared<int>();
  {
    const grpc::ByteBuffer buffer =
        WriteBlocks(header, v1::PushRequest::kGradientsFieldNumber,
                    {{0, v1::DATA_TYPE_FLOAT32, 5, Bytes(values)},
                     {1, v1::DATA_TYPE_FLOAT64, 6, {}},
                     {200, v1::DATA_TYPE_FLOAT32, 7, Bytes(values)}},
                    owner);
    EXPECT_EQ(owner.use_count(), 3);
    v1::PushRequest push;
    ASSERT_TRUE(push.ParseFromString(Joined(buffer)));
    ASSERT_EQ(push.gradients_size(), 3);
    EXPECT_EQ(push.gradients(0).dense().values(), values);
    EXPECT_EQ(push.gradients(0).version(), 5u);
    EXPECT_TRUE(push.gradients(1).has_dense());
    EXPECT_TRUE(push.gradients(1).dense().values().empty());
    EXPECT_EQ(push.gradients(2).index(), 200u);
    push.clear_gradients();
    EXPECT_EQ(push.SerializeAsString(), header.SerializeAsString());
  }
  EXPECT_EQ(owner.use_count(), 1) << "the buffer still holds the values";
}

TEST(BlockCodecTest, RowsAndUnknownFieldsAreKept) {
  v1::PushRequest push;
  push.add_gradients()->mutable_rows()->add_ids(7);
  // Field 99, of a version to come.
  const std::string bytes = push.SerializeAsString() + "\x9a\x06\x02hi";
  v1::PushRequest message;
  Received received;
  ASSERT_TRUE(Read(bytes, 3, message, received).ok());
  ASSERT_EQ(received.blocks.size(), 1u);
  EXPECT_EQ(received.blocks[0].rows().ids(0), 7u);
  EXPECT_THAT(message.SerializeAsString(), HasSubstr("hi"));
}

// A field may come after those with higher numbers.
TEST(BlockCodecTest, TheOrderOfFieldsMattersNot) {
  v1::Block dense;
  dense.mutable_dense()->set_values("abc");
  v1::Block header;
  header.set_index(4);
  const std::string block =
      dense.SerializeAsString() + header.SerializeAsString();
  const std::string bytes =
      std::string("\x22") + static_cast<char>(block.size()) + block;
  v1::PushRequest message;
  Received received;
  ASSERT_TRUE(Read(bytes, 100, message, received).ok());
  EXPECT_EQ(received.blocks[0].index(), 4u);
  EXPECT_THAT(received.values, ElementsAre("abc"));
}

TEST(BlockCodecTest, EveryTruncationIsAnErrorOrAShorterMessage) {
  const std::string bytes = WholePush().SerializeAsString();
  int errors = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    v1::PushRequest message;
    Received received;
    const absl::Status status =
        Read(bytes.substr(0, size), 7, message, received);
    // What protobuf takes is taken.
    v1::PushRequest whole;
    EXPECT_EQ(status.ok(), whole.ParseFromString(bytes.substr(0, size)))
        << size << " " << status;
    if (!status.ok()) {
      ++errors;
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    }
  }
  EXPECT_GT(errors, 50);
}

TEST(BlockCodecTest, LengthsThatLieAndErrorsOfTheReceiverAreReported) {
  for (const std::string& bytes :
       {std::string("\x22\xff\xff\xff\xff\x0f"),
        std::string("\x22\x05\x22\x7f"),
        std::string("\x22\x04\x22\x02\x12\x09"), std::string("\x07"),
        // No level's length is limited by the one above.
        std::string("\x22\xff\xff\xff\xff\x0f\x22\xff\xff\xff\xff\x0f"
                    "\x12\xff\xff\xff\xff\x0f"),
        // Each is, by a claim.
        std::string("\x22\xf0\xff\xff\xff\x07\x22\xe0\xff\xff\xff\x07"
                    "\x12\xd0\xff\xff\xff\x07")}) {
    v1::PushRequest message;
    Received received;
    EXPECT_EQ(Read(bytes, 100, message, received).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(received.indices_at_place.empty());
  }
  v1::PushRequest push;
  push.add_gradients()->mutable_dense()->set_values(std::string(101, 'x'));
  v1::PushRequest message;
  Received received;
  EXPECT_EQ(Read(push.SerializeAsString(), 100, message, received).message(),
            "too large");
}

TEST(BlockCodecTest, TheReceiverKnowsTheMessageBeforeItsBlocks) {
  class Late final : public Received {
   public:
    explicit Late(const v1::PushRequest& message) : message_(message) {}
    absl::Status Expect(size_t block_count) override {
      // Behind the blocks on the wire.
      EXPECT_EQ(message_.clock().steps(), 300u);
      return Received::Expect(block_count);
    }

   private:
    const v1::PushRequest& message_;
  };
  v1::PushRequest push = WholePush();
  v1::PushRequest message;
  Late received(message);
  grpc::ByteBuffer buffer = InSlices(push.SerializeAsString(), 10);
  ASSERT_TRUE(ReadBlocks(buffer, v1::PushRequest::kGradientsFieldNumber,
                         message, received)
                  .ok());
  EXPECT_EQ(received.expected, 2u);
  EXPECT_EQ(received.blocks.size(), 2u);

  for (int i = 0; i < 100'000; ++i) push.add_gradients();
  Received many;
  EXPECT_EQ(Read(push.SerializeAsString(), 1 << 20, message, many).message(),
            "too many");
  EXPECT_EQ(many.expected, 100'002u);
  EXPECT_TRUE(many.blocks.empty());
}

// A field of two bytes may take a hundred in memory.
TEST(BlockCodecTest, WhatIsBesideValuesIsLimited) {
  const std::string field("\xf8\x3f\x01", 3);
  const auto times = [&](int64_t count) {
    std::string fields;
    for (int64_t i = 0; i < count; ++i) fields += field;
    return fields;
  };
  const int64_t most = limits::kMaxBlockMessageBytes / field.size();
  v1::PushRequest message;
  Received received;
  EXPECT_TRUE(Read(times(most), 1 << 20, message, received).ok());
  EXPECT_EQ(Read(times(most + 1), 1 << 20, message, received).code(),
            absl::StatusCode::kInvalidArgument);

  // Of a block, in whatever part of it.
  const int64_t most_of_block = limits::kMaxBlockFieldBytes / field.size();
  for (const int64_t count : {most_of_block, most_of_block + 1}) {
    const auto part = [](char tag, const std::string& content) {
      EXPECT_LT(content.size(), 1u << 14);
      return std::string{tag, static_cast<char>(content.size() % 128 + 128),
                         static_cast<char>(content.size() / 128)} +
             content;
    };
    const std::string half = part('\x22', times(count / 2));
    const std::string rest = part('\x22', times(count - count / 2));
    const absl::Status status =
        Read(part('\x22', half + rest), 1 << 20, message, received);
    EXPECT_EQ(status.ok(), count == most_of_block) << status;
  }
}

}  // namespace
}  // namespace paceline
