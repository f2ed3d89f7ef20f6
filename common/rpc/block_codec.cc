#include "common/rpc/block_codec.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/base/thread_sanitizer.h"
#include "common/limits.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace paceline {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;
using Wire = google::protobuf::internal::WireFormatLite;

constexpr uint32_t LengthTag(int field) {
  return Wire::MakeTag(field, Wire::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t kDenseTag = LengthTag(v1::Block::kDenseFieldNumber);
constexpr uint32_t kValuesTag = LengthTag(v1::DenseBlock::kValuesFieldNumber);

// --- Writing -----------------------------------------------------------------

// Encoded size of a field with this tag and `size` bytes of content.
uint64_t FieldSize(uint32_t tag, uint64_t size) {
  return CodedOutputStream::VarintSize32(tag) +
         CodedOutputStream::VarintSize64(size) + size;
}

// Appends everything before a block's values.
void AppendHeader(int field, const DenseValues& block, std::string& out) {
  v1::Block header;
  header.set_index(block.index);
  header.set_dtype(block.dtype);
  header.set_version(block.version);
  const std::string fields = header.SerializeAsString();
  v1::DenseBlock dense;
  dense.set_offset(block.offset);
  const std::string offset = dense.SerializeAsString();
  const uint64_t dense_size =
      offset.size() + FieldSize(kValuesTag, block.values.size());
  StringOutputStream stream(&out);
  CodedOutputStream coded(&stream);
  coded.WriteTag(LengthTag(field));
  coded.WriteVarint64(fields.size() + FieldSize(kDenseTag, dense_size));
  coded.WriteString(fields);
  coded.WriteTag(kDenseTag);
  coded.WriteVarint64(dense_size);
  coded.WriteString(offset);
  coded.WriteTag(kValuesTag);
  coded.WriteVarint64(block.values.size());
}

// A slice of memory that `owner` keeps alive.
grpc::Slice SliceOf(absl::Span<const std::byte> values,
                    const std::shared_ptr<const void>& owner) {
  using Owner = std::shared_ptr<const void>;
  auto* const kept = new Owner(owner);
  TsanRelease(kept);
  // gRPC's slices are mutable by type, but nobody writes to them.
  return grpc::Slice(
      const_cast<std::byte*>(values.data()), values.size(),
      [](void* let_go) {
        TsanAcquire(let_go);
        delete static_cast<Owner*>(let_go);
      },
      kept);
}

// --- Reading -----------------------------------------------------------------

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the message cannot be read: ", what));
}

// Collects serialised fields of a message, to be merged into it.
class Fields {
 public:
  // `left`: how many more bytes this message and others may have; decremented.
  Fields(google::protobuf::MessageLite& message, size_t& left)
      : message_(message), left_(left) {}

  // Copies the field whose tag was just read.
  absl::Status Take(CodedInputStream& in, uint32_t tag) {
    const size_t before = taken_.size();
    StringOutputStream stream(&taken_);
    {
      CodedOutputStream out(&stream);
      if (!Wire::SkipField(&in, tag, &out)) return Malformed("a field");
    }
    const size_t size = taken_.size() - before;
    if (size > left_) return Malformed("it has too many bytes beside values");
    left_ -= size;
    return absl::OkStatus();
  }

  // Merges the fields collected since the last call.
  absl::Status Merge() {
    if (taken_.empty()) return absl::OkStatus();
    if (!message_.MergeFromString(taken_)) return Malformed("a field");
    taken_.clear();
    return absl::OkStatus();
  }

 private:
  google::protobuf::MessageLite& message_;
  size_t& left_;
  std::string taken_;
};

// Reads the length of a field, then its content by `read(length)`.
template <typename Read>
absl::Status ReadPart(CodedInputStream& in, Read read) {
  uint32_t size = 0;
  if (!in.ReadVarint32(&size)) return Malformed("a length");
  // The length must not exceed the received bytes, so that a false length
  // allocates nothing.
  if (size > static_cast<uint32_t>(in.BytesUntilLimit())) {
    return Malformed("a length that exceeds it");
  }
  const auto limit = in.PushLimit(static_cast<int>(size));
  RETURN_IF_ERROR(read(size));
  if (in.BytesUntilLimit() != 0) return Malformed("a field that ends early");
  in.PopLimit(limit);
  return absl::OkStatus();
}

// Reads fields up to the limit of `in`. Fields with `tag` are passed to `read`
// with their sizes, after all fields before them were merged into the message.
// Other fields are skipped if `fields` is null.
template <typename Read>
absl::Status ReadFields(CodedInputStream& in, uint32_t tag, Fields* fields,
                        Read read) {
  while (const uint32_t next = in.ReadTag()) {
    if (next == tag) {
      if (fields != nullptr) RETURN_IF_ERROR(fields->Merge());
      RETURN_IF_ERROR(ReadPart(in, read));
    } else if (fields != nullptr) {
      RETURN_IF_ERROR(fields->Take(in, next));
    } else if (!Wire::SkipField(&in, next)) {
      return Malformed("a field");
    }
  }
  if (!in.ConsumedEntireMessage()) return Malformed("it ends early");
  return fields == nullptr ? absl::OkStatus() : fields->Merge();
}

absl::Status ReadValues(CodedInputStream& in, const v1::Block& block,
                        uint32_t size, BlockReceiver& receiver) {
  ASSIGN_OR_RETURN(const absl::Span<std::byte> buffer,
                   receiver.BufferFor(block, size));
  if (!in.ReadRaw(buffer.data(), static_cast<int>(size))) {
    return Malformed("the values of a block");
  }
  return absl::OkStatus();
}

absl::Status ReadBlock(CodedInputStream& in, BlockReceiver& receiver) {
  v1::Block& block = *receiver.Begin();
  size_t left = limits::kMaxBlockFieldBytes;
  Fields fields(block, left);
  RETURN_IF_ERROR(ReadFields(in, kDenseTag, &fields, [&](uint32_t) {
    Fields dense(*block.mutable_dense(), left);
    return ReadFields(in, kValuesTag, &dense, [&](uint32_t size) {
      return ReadValues(in, block, size, receiver);
    });
  }));
  return receiver.End(block);
}

// Reads all fields of the message.
template <typename Read>
absl::Status ReadMessage(grpc::ByteBuffer& buffer, int field, Fields* fields,
                         Read read) {
  grpc::ProtoBufferReader reader(&buffer);
  if (!reader.status().ok()) return Malformed("its compression");
  if (buffer.Length() > limits::kMaxMessageBytes) return Malformed("its size");
  CodedInputStream in(&reader);
  in.SetTotalBytesLimit(limits::kMaxMessageBytes);
  in.PushLimit(static_cast<int>(buffer.Length()));
  return ReadFields(in, LengthTag(field), fields,
                    [&](uint32_t size) { return read(in, size); });
}

}  // namespace

grpc::ByteBuffer WriteBlocks(const google::protobuf::MessageLite& message,
                             int field, absl::Span<const DenseValues> blocks,
                             const std::shared_ptr<const void>& owner) {
  std::vector<grpc::Slice> slices;
  slices.reserve(2 * blocks.size() + 1);
  std::string header = message.SerializeAsString();
  for (const DenseValues& block : blocks) {
    AppendHeader(field, block, header);
    if (block.values.empty()) continue;
    slices.emplace_back(header);
    slices.push_back(SliceOf(block.values, owner));
    header.clear();
  }
  if (!header.empty() || slices.empty()) slices.emplace_back(header);
  return {slices.data(), slices.size()};
}

absl::Status ReadBlocks(grpc::ByteBuffer& buffer, int field,
                        google::protobuf::MessageLite& message,
                        BlockReceiver& receiver) {
  size_t left = limits::kMaxBlockMessageBytes;
  Fields fields(message, left);
  size_t count = 0;
  RETURN_IF_ERROR(ReadMessage(
      buffer, field, &fields, [&](CodedInputStream& in, uint32_t size) {
        ++count;
        return in.Skip(static_cast<int>(size)) ? absl::OkStatus()
                                               : Malformed("a block");
      }));
  RETURN_IF_ERROR(receiver.Expect(count));
  return ReadMessage(
      buffer, field, /*fields=*/nullptr,
      [&](CodedInputStream& in, uint32_t) { return ReadBlock(in, receiver); });
}

}  // namespace paceline
