#include "common/data_source/npz.h"

#include <cstdint>
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

}  // namespace paceline
