#include "common/keras/keras_archive.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/json_reader.h"
#include "common/keras/config_keys.h"
#include "common/limits.h"

namespace paceline {
namespace {

constexpr ZipTerms kTerms = {"Keras model", "member"};
constexpr int64_t kBufferBytes = 1 << 20;

absl::Status TooLarge(const ZipMember& member, int64_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat(member.name(), ": has more than ", limit,
                   " bytes after decompression, expected at most as many"));
}

// Reads a whole member. Memory grows with what is decompressed, not with what
// the archive claims.
absl::StatusOr<std::string> ReadAll(ZipMember& member, int64_t limit) {
  std::string bytes;
  while (true) {
    const size_t size = bytes.size();
    bytes.resize(size + kBufferBytes);
    ASSIGN_OR_RETURN(const int64_t count,
                     member.Read(bytes.data() + size, kBufferBytes));
    bytes.resize(size + static_cast<size_t>(count));
    if (static_cast<int64_t>(bytes.size()) > limit) {
      return TooLarge(member, limit);
    }
    if (count < kBufferBytes) return bytes;
  }
}

// A stored member.
class StoredMember final : public RandomAccess {
 public:
  StoredMember(ZipArchive archive, ZipMember member)
      : archive_(std::move(archive)),
        member_(std::move(member)),
        size_bytes_(member_.capacity_bytes()) {}

  int64_t size_bytes() const override { return size_bytes_; }

  absl::Status ReadAt(int64_t offset_bytes,
                      absl::Span<std::byte> out) override {
    // libzip does not seek in an empty member.
    if (out.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(member_.Seek(offset_bytes));
    const auto size = static_cast<int64_t>(out.size());
    ASSIGN_OR_RETURN(const int64_t count, member_.Read(out.data(), size));
    if (count == size) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat(member_.name(), ": damaged: ends at ",
                     offset_bytes + count, ", expected ", size_bytes_));
  }

  // DataLoss unless the checksum is right.
  absl::Status CompareChecksum() {
    std::vector<std::byte> buffer(kBufferBytes);
    int64_t size = 0;
    for (int64_t count = kBufferBytes; count == kBufferBytes; size += count) {
      ASSIGN_OR_RETURN(count, member_.Read(buffer.data(), kBufferBytes));
    }
    if (size == size_bytes_) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(member_.name(), ": damaged: has ",
                                            size, " bytes, expected ",
                                            size_bytes_));
  }

 private:
  // Declared first, since the member refers to it.
  const ZipArchive archive_;
  ZipMember member_;
  const int64_t size_bytes_;
};

}  // namespace

absl::StatusOr<KerasArchive> KerasArchive::Open(const std::string& path) {
  ASSIGN_OR_RETURN(ZipArchive archive, ZipArchive::Open(path, kTerms));
  return KerasArchive(std::move(archive));
}

absl::StatusOr<Value> KerasArchive::ReadConfig() const {
  return ReadMember(kConfigMember);
}

absl::StatusOr<std::string> KerasArchive::ReadKerasVersion() const {
  const absl::StatusOr<Value> metadata = ReadMember(kMetadataMember);
  if (absl::IsNotFound(metadata.status())) return "";
  RETURN_IF_ERROR(metadata.status());
  return TextOf(*metadata, "keras_version");
}

absl::StatusOr<Value> KerasArchive::ReadMember(const char* name) const {
  ASSIGN_OR_RETURN(ZipMember member, archive_.OpenMember(name));
  ASSIGN_OR_RETURN(const std::string text,
                   ReadAll(member, limits::kMaxModelConfigBytes));
  return ReadJson(text, member.name(), limits::kMaxModelConfigBytes);
}

absl::StatusOr<std::unique_ptr<RandomAccess>> KerasArchive::OpenWeights(
    KerasArchive archive) {
  ASSIGN_OR_RETURN(ZipMember member,
                   archive.archive_.OpenMember(kWeightsMember));
  if (!member.is_stored()) {
    ASSIGN_OR_RETURN(std::string bytes,
                     ReadAll(member, limits::kMaxCompressedWeightsBytes));
    return RandomAccessTo(std::move(bytes));
  }
  auto stored = std::make_unique<StoredMember>(std::move(archive.archive_),
                                               std::move(member));
  RETURN_IF_ERROR(stored->CompareChecksum());
  return stored;
}

}  // namespace paceline
