// What comes in as bytes.
#include "ps_server/grpc_messages.h"

#include <cstring>
#include <memory>
#include <string>

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

  const std::shared_ptr<BlockMemoryPool> pool_ =
      std::make_shared<BlockMemoryPool>();
};

TEST_F(GrpcMessagesTest, GradientsAreReadBesideTheMessage) {
  v1::PushRequest request;
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
  grpc::ByteBuffer bytes = Serialised(request);
  ASSERT_TRUE(ReadPush(bytes, read).ok());
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
  v1::PushRequest request;
  for (size_t size : {16, 8}) {
    request.add_gradients()->mutable_dense()->set_values(
        std::string(size, 'x'));
  }
  PushMessages read(pool_);
  grpc::ByteBuffer bytes = Serialised(request);
  ASSERT_TRUE(ReadPush(bytes, read).ok());
  read.MakePlaces({16, 24, 8});
  ASSERT_EQ(read.variables.size(), 3u);
  EXPECT_EQ(read.variables[0].values.data(), read.gradients[0].values.data());
  EXPECT_EQ(read.variables[1].values.size(), 24u);
  EXPECT_EQ(read.variables[2].values.size(), 8u);
  EXPECT_EQ(read.gradients[1].values[7], std::byte{'x'}) << "still there";
  EXPECT_NE(read.variables[2].values.data(), read.gradients[1].values.data());
}

TEST_F(GrpcMessagesTest, GradientsWithoutElementsOrInRowsAreRefused) {
  v1::PushRequest request;
  request.add_gradients()->set_index(4);
  PushMessages read(pool_);
  grpc::ByteBuffer bytes = Serialised(request);
  absl::Status status = ReadPush(bytes, read);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("gradients of block 4: there are no elements"));
  request.mutable_gradients(0)->mutable_rows();
  bytes = Serialised(request);
  status = ReadPush(bytes, read);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rows"));
}

}  // namespace
}  // namespace paceline
