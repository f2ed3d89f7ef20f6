#include "common/session/leader/shard_file_collector.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/base/folder.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::Status Collect(const std::string& folder, size_t shard,
                     const std::string& name, const ShardFile& described,
                     const ReadShardPiece& read) {
  ASSIGN_OR_RETURN(Folder opened, Folder::Open(folder));
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::CreateNew(std::move(opened), name));
  const auto size = static_cast<uint64_t>(described.size_bytes);
  uint32_t crc = 0;
  for (uint64_t offset = 0; offset < size;) {
    const uint64_t expected = std::min(size - offset, kCheckpointPieceBytes);
    ASSIGN_OR_RETURN(const std::string piece, read(shard, offset));
    if (piece.size() != expected) {
      return absl::DataLossError(
          absl::StrCat(name, ": its shard sent ", piece.size(),
                       " bytes from offset ", offset, " on; expected ",
                       expected, " of the ", size, " that it wrote"));
    }
    crc = static_cast<uint32_t>(
        crc32(crc, reinterpret_cast<const Bytef*>(piece.data()),
              static_cast<uInt>(piece.size())));
    RETURN_IF_ERROR(file->Append(piece));
    offset += expected;
  }
  if (crc != described.crc32) {
    return absl::DataLossError(
        absl::StrCat(name, " has the CRC-32 ", crc, " as its shard sent it; ",
                     "its shard wrote ", described.crc32));
  }
  return file->Commit();
}

}  // namespace

std::vector<size_t> ShardsElsewhere(const std::string& folder,
                                    size_t shard_count) {
  std::vector<size_t> shards;
  for (size_t shard = 0; shard < shard_count; ++shard) {
    const std::string name =
        ShardFileName(static_cast<int>(shard), static_cast<int>(shard_count));
    std::error_code error;
    if (!std::filesystem::exists(absl::StrCat(folder, "/", name), error)) {
      shards.push_back(shard);
    }
  }
  return shards;
}

absl::Status CollectShardFiles(const std::string& folder,
                               absl::Span<const size_t> shards,
                               absl::Span<const ShardFile> files,
                               const ReadShardPiece& read) {
  for (const size_t shard : shards) {
    const std::string name =
        ShardFileName(static_cast<int>(shard), static_cast<int>(files.size()));
    RETURN_IF_ERROR(Collect(folder, shard, name, files[shard], read));
  }
  return absl::OkStatus();
}

}  // namespace paceline
