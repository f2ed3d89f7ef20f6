// What comes in as bytes.
#include "ps_server/grpc_messages.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class GrpcMessagesTest : public ::testing::Test {
 protected:
  static grpc::ByteBuffer Serialised(const v1::PushRequest& request) {
    const grpc::Slice slice(request.SerializeAsString());
    return {&slice, 1};
  }

  // Reads a push for a chunk with blocks of these sizes.
  absl::Status Read(grpc::ByteBuffer bytes, PushMessages& messages) const {
    return ReadPush(
        bytes,
        [this](const v1::PushRequest& request)
            -> absl::StatusOr<absl::Span<const size_t>> {
          if (request.chunk() == kChunk) return absl::MakeConstSpan(sizes_);
          return absl::NotFoundError("another chunk");
        },
        messages);
  }
  static v1::PushRequest Request() {
    v1::PushRequest request;
    request.set_chunk(kChunk);
    return request;
  }

  static constexpr uint32_t kChunk = 4;
  std::vector<size_t> sizes_ = {8, 8};
  const std::shared_ptr<BlockMemoryPool> pool_ =
      std::make_shared<BlockMemoryPool>();
};

TEST_F(GrpcMessagesTest, GradientsAreReadBesideTheMessage) {
  v1::PushRequest request = Request();
  request.set_pull(true);
  for (uint32_t index : {3u, 5u}) {
    v1::Block& block = *request.add_gradients();
    block.set_index(index);
    block.set_dtype(v1::DATA_TYPE_FLOAT64);
    block.set_version(7);
    block.mutable_dense()->set_offset(2);
    block.mutable_dense()->set_values(std::string(8 * index, 'x'));
  }
  PushMessages read(pool_);
  ASSERT_TRUE(Read(Serialised(request), read).ok());
  EXPECT_TRUE(read.request.pull());
  EXPECT_EQ(read.request.gradients_size(), 0);
  ASSERT_EQ(read.gradients.size(), 2u);
  const DenseValues& last = read.gradients[1];
  EXPECT_EQ(last.index, 5u);
  EXPECT_EQ(last.dtype, v1::DATA_TYPE_FLOAT64);
  EXPECT_EQ(last.version, 7u);
  EXPECT_EQ(last.offset, 2u);
  EXPECT_EQ(last.values.size(), 40u);
  EXPECT_EQ(last.values[39], std::byte{'x'});
}

TEST_F(GrpcMessagesTest, VariablesTakeTheMemoryOfGradientsOfTheirSize) {
  v1::PushRequest request = Request();
  request.set_pull(true);
  sizes_ = {16, 24, 8};
  for (size_t size : {16, 8}) {
    request.add_gradients()->mutable_dense()->set_values(
        std::string(size, 'x'));
  }
  PushMessages read(pool_);
  ASSERT_TRUE(Read(Serialised(request), read).ok());
  ASSERT_EQ(read.variables.size(), 3u);
  EXPECT_EQ(read.variables[0].values.data(), read.gradients[0].values.data());
  EXPECT_EQ(read.variables[1].values.size(), 24u);
  EXPECT_EQ(read.variables[2].values.size(), 8u);
  EXPECT_EQ(read.gradients[1].values[7], std::byte{'x'}) << "still there";
  EXPECT_NE(read.variables[2].values.data(), read.gradients[1].values.data());
}

TEST_F(GrpcMessagesTest, GradientsWithoutElementsOrInRowsAreRefused) {
  v1::PushRequest request = Request();
  request.add_gradients()->set_index(4);
  PushMessages read(pool_);
  absl::Status status = Read(Serialised(request), read);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("gradients of block 4: there are no elements"));
  request.mutable_gradients(0)->mutable_rows();
  status = Read(Serialised(request), read);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rows"));
}

// Each took two bytes of the message, and some 90 here.
TEST_F(GrpcMessagesTest, MoreBlocksThanTheChunkHasTakeNoMemory) {
  v1::PushRequest request = Request();
  for (int i = 0; i < 100'000; ++i) request.add_gradients();
  PushMessages read(pool_);
  absl::Status status = Read(Serialised(request), read);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("gradients of 100000 blocks; chunk 4 has 2 blocks"));
  EXPECT_TRUE(read.memory.empty());
  EXPECT_EQ(read.gradients.capacity(), 0u);
  request.set_chunk(5);
  status = Read(Serialised(request), read);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
}

TEST_F(GrpcMessagesTest, PlacesAreMadeOnlyIfVariablesAreAskedFor) {
  PushMessages read(pool_);
  ASSERT_TRUE(Read(Serialised(Request()), read).ok());
  EXPECT_TRUE(read.variables.empty());
}

TEST(BlockMemoryPoolTest, CountsWhatEmptyBlocksTake) {
  BlockMemoryPool pool;
  // 24 bytes each: 384 MiB, of which nothing is kept.
  pool.Return(BlockMemory(size_t{16} << 20));
  EXPECT_EQ(pool.Take().capacity(), 0u);
  pool.Return(BlockMemory(16));
  EXPECT_EQ(pool.Take().size(), 16u);
}

}  // namespace
}  // namespace paceline
