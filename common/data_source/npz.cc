#include "common/data_source/npz.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "common/data_source/stored_array.h"

namespace paceline {
namespace {

constexpr ZipTerms kTerms = {"NumPy archive", "array", ".npy"};

absl::StatusOr<NpyHeader> ReadHeaderOf(ZipMember& member) {
  return ReadNpyHeader(member.name(), [&member](void* out, int64_t size) {
    return member.Read(out, size);
  });
}

// A member of an archive that it opens for itself.
class MemberBytes : public ArrayBytes {
 public:
  static absl::StatusOr<std::unique_ptr<ArrayBytes>> Open(
      const std::string& path, const std::string& member) {
    ASSIGN_OR_RETURN(ZipArchive archive, ZipArchive::Open(path, kTerms));
    ASSIGN_OR_RETURN(ZipMember opened, archive.OpenMember(member));
    return std::make_unique<MemberBytes>(std::move(archive), member,
                                         std::move(opened));
  }

  MemberBytes(ZipArchive archive, std::string member, ZipMember opened)
      : archive_(std::move(archive)),
        member_(std::move(member)),
        opened_(std::move(opened)),
        capacity_bytes_(opened_.capacity_bytes()) {}

  const std::string& name() const override { return opened_.name(); }
  int64_t capacity_bytes() const override { return capacity_bytes_; }
  bool is_compressed() const override { return !opened_.is_stored(); }

  absl::StatusOr<int64_t> Read(void* out, int64_t size) override {
    ASSIGN_OR_RETURN(const int64_t got, opened_.Read(out, size));
    position_ += got;
    return got;
  }

  absl::Status Seek(int64_t offset) override {
    if (opened_.is_stored()) {
      RETURN_IF_ERROR(opened_.Seek(offset));
      position_ = offset;
      return absl::OkStatus();
    }
    if (offset < position_) {
      ASSIGN_OR_RETURN(opened_, archive_.OpenMember(member_));
      position_ = 0;
    }
    char skipped[16 << 10];
    while (position_ < offset) {
      const int64_t wanted =
          std::min<int64_t>(std::size(skipped), offset - position_);
      ASSIGN_OR_RETURN(const int64_t got, Read(skipped, wanted));
      if (got < wanted) return Truncated(name(), "values", position_, offset);
    }
    return absl::OkStatus();
  }

 private:
  ZipArchive archive_;
  const std::string member_;
  ZipMember opened_;
  const int64_t capacity_bytes_;
  int64_t position_ = 0;
};

}  // namespace

absl::StatusOr<NpzArchive> NpzArchive::Open(const std::string& path) {
  ASSIGN_OR_RETURN(ZipArchive archive, ZipArchive::Open(path, kTerms));
  return NpzArchive(std::move(archive));
}

std::string NpzArchive::NameOf(absl::string_view array) const {
  return archive_.NameOf(array);
}

absl::StatusOr<NpyHeader> NpzArchive::ReadHeader(
    const std::string& array) const {
  ASSIGN_OR_RETURN(ZipMember member, archive_.OpenMember(array));
  return ReadHeaderOf(member);
}

absl::StatusOr<StoredArray> NpzArchive::Read(const std::string& array) const {
  ASSIGN_OR_RETURN(ZipMember member, archive_.OpenMember(array));
  ASSIGN_OR_RETURN(NpyHeader header, ReadHeaderOf(member));
  return ReadStoredArray(
      member.name(), header.type, std::move(header.shape),
      {member.capacity_bytes(),
       [&member](void* out, int64_t size) { return member.Read(out, size); }});
}

absl::StatusOr<ArrayValues> NpzArchive::OpenArray(
    const std::string& array, int64_t max_held_bytes) const {
  ASSIGN_OR_RETURN(const std::optional<MemberPlace> stored,
                   archive_.FindStored(array));
  if (!stored) return Read(array);
  FilePart part(stored->file, stored->offset_bytes,
                stored->offset_bytes + stored->size_bytes);
  return OpenNpyPart(stored->name, std::move(part), max_held_bytes);
}

absl::StatusOr<StoredRows> OpenNpzRows(const std::string& path,
                                       const std::string& array,
                                       RowOrder order) {
  ASSIGN_OR_RETURN(std::unique_ptr<ArrayBytes> bytes,
                   MemberBytes::Open(path, array));
  return OpenNpyRows(std::move(bytes), order);
}

}  // namespace paceline
