#include "common/tensorflow_checkpoint/bundle_index.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/tensorflow_checkpoint/leveldb_table.h"
#include "common/tensorflow_checkpoint/messages.pb.h"

namespace paceline {
namespace {

// Of the format, the only one that there is.
constexpr int kVersion = 1;
// Of all keys and values together: keys share their beginnings in the file, so
// a small one may be much longer when it is read. Those of 1,000 layers and
// their optimizer have 1 MB.
constexpr size_t kMaxContentBytes = 64 << 20;
// Those of 1,000 layers and their optimizer are 10,000.
constexpr size_t kMaxEntries = 200'000;
// The number has five digits in the names of files.
constexpr int kMaxShards = 99'999;

absl::Status Damaged(absl::string_view key, absl::string_view reason) {
  return absl::DataLossError(absl::StrCat(PeerText(key), ": ", reason));
}

// Bytes of an element; 0 of a string and of types that are not named.
int64_t ElementBytes(TensorFlowType type) {
  switch (type) {
    case TensorFlowType::kFloat:
    case TensorFlowType::kInt32:
      return 4;
    case TensorFlowType::kDouble:
    case TensorFlowType::kInt64:
      return 8;
    case TensorFlowType::kBFloat16:
    case TensorFlowType::kHalf:
      return 2;
    case TensorFlowType::kString:
      break;
  }
  return 0;
}

absl::StatusOr<int> ReadShardCount(absl::string_view value) {
  tensorflow::BundleHeader header;
  if (!header.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return absl::DataLossError("its header is no BundleHeaderProto");
  }
  if (header.endianness() != 0) {
    return absl::UnimplementedError(
        "its numbers are big-endian, expected little-endian ones");
  }
  if (header.version().min_consumer() > kVersion) {
    return absl::UnimplementedError(absl::StrCat(
        "needs a reader of version ", header.version().min_consumer(),
        " of the format, expected ", kVersion));
  }
  if (header.num_shards() < 1 || header.num_shards() > kMaxShards) {
    return absl::DataLossError(absl::StrCat(
        "has ", header.num_shards(), " shards, expected 1 to ", kMaxShards));
  }
  return header.num_shards();
}

absl::StatusOr<Shape> ShapeOf(absl::string_view key,
                              const tensorflow::TensorShape& stored) {
  if (stored.unknown_rank() || stored.dim_size() > limits::kMaxRank) {
    return Damaged(key, absl::StrCat("has ", stored.dim_size(),
                                     " dimensions or an unknown number, "
                                     "expected at most ",
                                     limits::kMaxRank));
  }
  Shape shape;
  int64_t elements = 1;
  for (const tensorflow::TensorShape::Dim& dim : stored.dim()) {
    if (dim.size() < 0 ||
        __builtin_mul_overflow(elements, dim.size(), &elements) ||
        elements > limits::kMaxElements) {
      return Damaged(key, absl::StrCat("a dimension of ", dim.size(),
                                       ", expected at most ",
                                       limits::kMaxElements, " elements"));
    }
    shape.push_back(dim.size());
  }
  return shape;
}

absl::StatusOr<BundleEntry> ReadEntry(absl::string_view key,
                                      absl::string_view value,
                                      int shard_count) {
  tensorflow::BundleEntry stored;
  if (!stored.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return Damaged(key, "is no BundleEntryProto");
  }
  BundleEntry entry;
  entry.type = static_cast<TensorFlowType>(stored.dtype());
  ASSIGN_OR_RETURN(entry.shape, ShapeOf(key, stored.shape()));
  entry.is_in_parts = stored.slices_size() > 0;
  if (entry.is_in_parts) return entry;
  if (stored.shard_id() < 0 || stored.shard_id() >= shard_count) {
    return Damaged(key, absl::StrCat("is in shard ", stored.shard_id(),
                                     ", expected one below ", shard_count));
  }
  if (stored.offset() < 0 || stored.size() < 0) {
    return Damaged(key, absl::StrCat("has offset ", stored.offset(),
                                     " and size ", stored.size()));
  }
  const int64_t element_bytes = ElementBytes(entry.type);
  const int64_t expected = NumElements(entry.shape) * element_bytes;
  if (element_bytes > 0 && stored.size() != expected) {
    return Damaged(
        key, absl::StrCat("has ", stored.size(), " bytes, expected ", expected,
                          " for its shape ", ShapeToString(entry.shape)));
  }
  entry.shard = stored.shard_id();
  entry.offset_bytes = stored.offset();
  entry.size_bytes = stored.size();
  entry.masked_crc32c = stored.crc32c();
  return entry;
}

}  // namespace

absl::StatusOr<BundleIndex> ReadBundleIndex(absl::string_view file) {
  BundleIndex index;
  bool has_header = false;
  size_t content_bytes = 0;
  const auto read = [&](absl::string_view key,
                        absl::string_view value) -> absl::Status {
    content_bytes += key.size() + value.size();
    if (content_bytes > kMaxContentBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "its keys and values have more than ", kMaxContentBytes, " bytes"));
    }
    if (!has_header) {
      if (!key.empty()) return absl::DataLossError("has no header");
      has_header = true;
      ASSIGN_OR_RETURN(index.shard_count, ReadShardCount(value));
      return absl::OkStatus();
    }
    if (index.entries.size() == kMaxEntries) {
      return absl::ResourceExhaustedError(
          absl::StrCat("has more than ", kMaxEntries, " tensors"));
    }
    ASSIGN_OR_RETURN(BundleEntry entry,
                     ReadEntry(key, value, index.shard_count));
    index.entries.emplace_hint(index.entries.end(), key, std::move(entry));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ReadLeveldbTable(file, read));
  if (!has_header) return absl::DataLossError("has no header");
  return index;
}

}  // namespace paceline
