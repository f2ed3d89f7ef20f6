// A push on the wire: in slices of some size, as gRPC cuts it.
#include <glog/logging.h>

#include <string>
#include <vector>

#include "common/base/status_macros.h"
#include "common/rpc/block_codec.h"
#include "paceline/v1/ps.pb.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

// Keeps the blocks where protobuf has them.
class Receiver : public BlockReceiver {
 public:
  explicit Receiver(v1::PushRequest& push) : push_(push) {}

  absl::Status Expect(size_t block_count) override {
    if (block_count > 1000) return absl::ResourceExhaustedError("too many");
    return absl::OkStatus();
  }
  v1::Block* Begin() override {
    values_.clear();
    return push_.add_gradients();
  }
  absl::StatusOr<absl::Span<std::byte>> BufferFor(const v1::Block& /*block*/,
                                                  size_t size) override {
    if (size > 1 << 16) return absl::ResourceExhaustedError("too large");
    values_.assign(size, '\0');
    return absl::MakeSpan(reinterpret_cast<std::byte*>(values_.data()), size);
  }
  absl::Status End(const v1::Block& block) override {
    v1::Block& last = *push_.mutable_gradients()->rbegin();
    CHECK_EQ(&block, &last);
    if (block.has_dense()) last.mutable_dense()->set_values(values_);
    return absl::OkStatus();
  }

 private:
  v1::PushRequest& push_;
  std::string values_;
};

grpc::ByteBuffer InSlices(const std::string& bytes, size_t slice_size) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += slice_size) {
    slices.emplace_back(bytes.substr(at, slice_size));
  }
  return {slices.data(), slices.size()};
}

absl::Status Read(grpc::ByteBuffer buffer, v1::PushRequest& push) {
  v1::PushRequest others;
  Receiver receiver(push);
  RETURN_IF_ERROR(ReadBlocks(buffer, v1::PushRequest::kGradientsFieldNumber,
                             others, receiver));
  push.MergeFrom(others);
  return absl::OkStatus();
}

}  // namespace

void Fuzz(FuzzInput input) {
  const size_t slice_size = 1 + input.Byte();
  v1::PushRequest push;
  if (!Read(InSlices(std::string(input.rest()), slice_size), push).ok()) return;
  // What was read can be written, and read again.
  v1::PushRequest again;
  const std::string bytes = push.SerializeAsString();
  const absl::Status read = Read(InSlices(bytes, slice_size), again);
  CHECK(read.ok()) << read;
  CHECK_EQ(again.SerializeAsString(), bytes);
}

}  // namespace paceline
