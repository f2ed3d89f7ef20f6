#include "common/tensorflow_checkpoint/checkpoint_file.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/crc32c.h"
#include "common/base/file.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "google/protobuf/io/coded_stream.h"

namespace paceline {
namespace {

// Of the index: that of 1,000 layers and their optimizer has 0.3 MB.
constexpr int64_t kMaxIndexBytes = 16 << 20;
// Read at a time.
constexpr int64_t kBufferBytes = 1 << 20;
// Of the length before a string's bytes, and of the checksum between them.
constexpr int64_t kMaxLengthBytes = 10;
constexpr int64_t kChecksumBytes = 4;

absl::Status WrongChecksum(absl::string_view key) {
  return absl::DataLossError(
      absl::StrCat(PeerText(key), " is damaged: its checksum is another"));
}

template <typename T>
absl::Span<const std::byte> BytesOf(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof(value)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointFile>> CheckpointFile::Open(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxIndexBytes));
  absl::StatusOr<BundleIndex> index = ReadBundleIndex(bytes);
  if (!index.ok()) return Annotate(index.status(), path);
  auto file = absl::WrapUnique(new CheckpointFile(*std::move(index)));
  RETURN_IF_ERROR(file->OpenShards(path));
  return file;
}

absl::Status CheckpointFile::OpenShards(const std::string& path) {
  const absl::string_view prefix = absl::StripSuffix(path, ".index");
  shards_.resize(index_.shard_count);
  for (const auto& [key, entry] : index_.entries) {
    if (entry.is_in_parts) continue;
    Shard& shard = shards_[entry.shard];
    if (shard.file == nullptr) {
      shard.path = absl::StrFormat("%s.data-%05d-of-%05d", prefix, entry.shard,
                                   index_.shard_count);
      ASSIGN_OR_RETURN(shard.file, OpenRandomAccess(shard.path));
      shard.begin_bytes = size_bytes_;
      if (__builtin_add_overflow(size_bytes_, shard.file->size_bytes(),
                                 &size_bytes_)) {
        return absl::ResourceExhaustedError(
            absl::StrCat(shard.path, ": has ", shard.file->size_bytes(),
                         " bytes, which the bytes of all shards cannot count"));
      }
    }
    const int64_t size = shard.file->size_bytes();
    if (entry.offset_bytes > size ||
        entry.size_bytes > size - entry.offset_bytes) {
      return absl::DataLossError(absl::StrCat(
          shard.path, ": has ", size, " bytes, expected ", PeerText(key),
          " of ", entry.size_bytes, " bytes at ", entry.offset_bytes));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckpointFile::CheckTensor(const std::string& key) {
  const BundleEntry& entry = index_.entries.at(key);
  std::vector<std::byte> buffer(
      static_cast<size_t>(std::min(kBufferBytes, entry.size_bytes)));
  uint32_t crc = 0;
  for (int64_t done = 0; done < entry.size_bytes;) {
    const auto part = absl::MakeSpan(buffer).subspan(
        0, static_cast<size_t>(entry.size_bytes - done));
    RETURN_IF_ERROR(ReadAt(OffsetOf(entry) + done, part));
    crc = ExtendCrc32c(crc, part);
    done += static_cast<int64_t>(part.size());
  }
  if (MaskCrc32c(crc) == entry.masked_crc32c) return absl::OkStatus();
  return Annotate(WrongChecksum(key), shards_[entry.shard].path);
}

// The length, a varint; the checksum of the length as a number of 4 bytes; the
// string. The checksum of the tensor is that of the number, of its checksum and
// of the string.
absl::StatusOr<std::string> CheckpointFile::ReadString(const std::string& key,
                                                       int64_t limit_bytes) {
  const auto found = index_.entries.find(key);
  if (found == index_.entries.end()) {
    return absl::NotFoundError(absl::StrCat("has no ", PeerText(key)));
  }
  const BundleEntry& entry = found->second;
  if (entry.type != TensorFlowType::kString || !entry.shape.empty() ||
      entry.is_in_parts) {
    return absl::InvalidArgumentError(
        absl::StrCat(PeerText(key), ": expected one string"));
  }
  if (entry.size_bytes > limit_bytes + kMaxLengthBytes + kChecksumBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(PeerText(key), " has ", entry.size_bytes,
                     " bytes, expected at most ", limit_bytes));
  }
  std::string stored(static_cast<size_t>(entry.size_bytes), '\0');
  RETURN_IF_ERROR(
      ReadAt(OffsetOf(entry),
             {reinterpret_cast<std::byte*>(stored.data()), stored.size()}));
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t*>(stored.data()),
      static_cast<int>(stored.size()));
  uint32_t length = 0;
  uint32_t checksum = 0;
  if (!stream.ReadVarint32(&length) || !stream.ReadLittleEndian32(&checksum) ||
      length != stored.size() - stream.CurrentPosition()) {
    return absl::DataLossError(absl::StrCat(PeerText(key),
                                            ": its length is not that of ",
                                            entry.size_bytes, " bytes"));
  }
  uint32_t crc = ExtendCrc32c(0, BytesOf(length));
  if (MaskCrc32c(crc) != checksum) return WrongChecksum(key);
  crc = ExtendCrc32c(crc, BytesOf(checksum));
  stored.erase(0, static_cast<size_t>(stream.CurrentPosition()));
  crc = ExtendCrc32c(
      crc, {reinterpret_cast<const std::byte*>(stored.data()), stored.size()});
  if (MaskCrc32c(crc) != entry.masked_crc32c) return WrongChecksum(key);
  return stored;
}

absl::Status CheckpointFile::ReadAt(int64_t offset_bytes,
                                    absl::Span<std::byte> out) {
  const auto has_range = [&](const Shard& shard) {
    if (shard.file == nullptr || offset_bytes < shard.begin_bytes) return false;
    const int64_t rest =
        shard.begin_bytes + shard.file->size_bytes() - offset_bytes;
    return rest >= 0 && out.size() <= static_cast<uint64_t>(rest);
  };
  const auto shard = std::find_if(shards_.begin(), shards_.end(), has_range);
  CHECK(shard != shards_.end())
      << "no shard has " << out.size() << " bytes at " << offset_bytes;
  return shard->file->ReadAt(offset_bytes - shard->begin_bytes, out);
}

}  // namespace paceline
