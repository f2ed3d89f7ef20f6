#include "common/zip/zip_archive.h"

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/config/value.h"
#include "common/zip/zip_file_source.h"

namespace paceline {
namespace {

// A libzip error: invalid data, or data that cannot be read.
absl::Status ZipError(const std::string& name, zip_error_t* error) {
  if (zip_error_system_type(error) == ZIP_ET_SYS &&
      zip_error_code_system(error) != 0) {
    return absl::ErrnoToStatus(zip_error_code_system(error),
                               absl::StrCat("cannot read ", name));
  }
  return absl::DataLossError(
      absl::StrCat(name, ": damaged: ", zip_error_strerror(error)));
}

absl::Status Damaged(const std::string& name, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(name, ": damaged: ", what));
}

// DataLoss unless the bytes of a member have this checksum.
absl::Status CheckStoredCrc(const MemberPlace& member, uint32_t expected) {
  std::vector<char> piece(std::min<size_t>(member.size_bytes, size_t{1} << 18));
  uLong sum = crc32(0, nullptr, 0);
  for (int64_t done = 0; done < member.size_bytes;) {
    const auto size = std::min(std::ssize(piece), member.size_bytes - done);
    RETURN_IF_ERROR(
        member.file->ReadAt(member.offset_bytes + done, piece.data(), size));
    sum = crc32(sum, reinterpret_cast<const Bytef*>(piece.data()),
                static_cast<uInt>(size));
    done += size;
  }
  if (sum == expected) return absl::OkStatus();
  return Damaged(
      member.name,
      absl::StrFormat("the CRC-32 of the %d bytes at byte %d is "
                      "0x%08x, expected 0x%08x",
                      member.size_bytes, member.offset_bytes, sum, expected));
}

// The error of opening an archive.
absl::Status OpenError(const std::string& path, const ZipTerms& terms,
                       int code) {
  if (code == ZIP_ER_NOZIP) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no zip archive or lacks its end, expected a ",
                     terms.archive));
  }
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  absl::Status status = ZipError(path, &error);
  zip_error_fini(&error);
  return status;
}

// A member's entry in the directory, if we can read such members.
absl::StatusOr<zip_stat_t> ReadableStat(zip_t* archive, zip_uint64_t index,
                                        const std::string& name) {
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD |
                                   ZIP_STAT_ENCRYPTION_METHOD;
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive, index, 0, &stat) != 0 ||
      (stat.valid & kNeeded) != kNeeded) {
    return ZipError(name, zip_get_error(archive));
  }
  if (stat.encryption_method != ZIP_EM_NONE) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is encrypted, expected plain data"));
  }
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: the compression method is %d, expected 0 (stored) or 8 "
        "(deflated)",
        name, stat.comp_method));
  }
  return stat;
}

}  // namespace

void ZipMember::Close::operator()(zip_file* member) const {
  zip_fclose(member);
}

void ZipArchive::Discard::operator()(zip* archive) const {
  zip_discard(archive);
}

absl::Status ZipMember::LastError() const {
  RETURN_IF_ERROR(source().status());
  const absl::Status error = ZipError(name_, zip_file_get_error(file_.get()));
  // libzip has taken the archive up to there.
  return WithMessage(error, absl::StrCat(error.message(), ", before byte ",
                                         source().position(), " of the file"));
}

absl::StatusOr<int64_t> ZipMember::Read(void* out, int64_t size) {
  int64_t total = 0;
  while (total < size) {
    const auto wanted = static_cast<zip_uint64_t>(
        std::min<int64_t>(size - total, int64_t{1} << 30));
    const zip_int64_t count =
        zip_fread(file_.get(), static_cast<char*>(out) + total, wanted);
    if (count < 0) return LastError();
    if (count == 0) break;
    total += count;
  }
  capacity_bytes_ -= total;
  return total;
}

absl::Status ZipMember::Seek(int64_t offset_bytes) {
  const int64_t end = zip_ftell(file_.get()) + capacity_bytes_;
  if (zip_fseek(file_.get(), offset_bytes, SEEK_SET) != 0) {
    return LastError();
  }
  capacity_bytes_ = end - offset_bytes;
  return absl::OkStatus();
}

absl::StatusOr<ZipArchive> ZipArchive::Open(const std::string& path,
                                            const ZipTerms& terms) {
  ASSIGN_OR_RETURN(StableFile opened, StableFile::Open(path));
  auto file = std::make_shared<const StableFile>(std::move(opened));
  const int64_t file_size = file->size_bytes();
  auto reader = std::make_shared<ZipFileSource>(std::move(file));
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source =
      zip_source_function_create(&ZipFileSource::Call, reader.get(), &error);
  zip_t* const opened_zip =
      source == nullptr ? nullptr
                        : zip_open_from_source(source, ZIP_RDONLY, &error);
  const int code = zip_error_code_zip(&error);
  zip_error_fini(&error);
  if (opened_zip == nullptr) {
    zip_source_free(source);
    RETURN_IF_ERROR(reader->status());
    return OpenError(path, terms, code);
  }
  return ZipArchive(path, terms, file_size,
                    Zip(opened_zip, Discard{std::move(reader)}));
}

std::string ZipArchive::NameOf(absl::string_view member) const {
  return absl::StrCat(path_, ": ", member);
}

// The names of the first members, for errors about an unknown name.
std::string ZipArchive::MemberNames() const {
  constexpr zip_int64_t kMaxNames = 10;
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  std::vector<std::string> names;
  for (zip_int64_t i = 0; i < std::min(count, kMaxNames); ++i) {
    const char* name = zip_get_name(archive_.get(), i, 0);
    if (name == nullptr) continue;
    names.push_back(
        Excerpt(std::string(absl::StripSuffix(name, terms_.suffix))));
  }
  if (count > kMaxNames) names.push_back("...");
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<int64_t> ZipArchive::FindMember(absl::string_view member) const {
  const std::string wanted = absl::StrCat(member, terms_.suffix);
  const zip_int64_t entries = zip_get_num_entries(archive_.get(), 0);
  int64_t index = 0;
  int64_t count = 0;
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* name = zip_get_name(archive_.get(), i, 0);
    if (name == nullptr || name != wanted) continue;
    index = i;
    ++count;
  }
  if (count == 1) return index;
  const std::string name = Excerpt(std::string(member));
  if (count > 1) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": there are ", count,
                                                   " ", terms_.member, "s ",
                                                   name, ", expected one"));
  }
  const std::string names = MemberNames();
  return absl::NotFoundError(
      absl::StrCat(path_, ": there is no ", terms_.member, " ", name,
                   names.empty() ? ", nor any other"
                                 : absl::StrCat(", expected one of ", names)));
}

absl::StatusOr<ZipMember> ZipArchive::OpenMember(
    absl::string_view member) const {
  ASSIGN_OR_RETURN(const int64_t index, FindMember(member));
  ZipMember opened(NameOf(member), archive_.get_deleter().source);
  ASSIGN_OR_RETURN(const zip_stat_t stat,
                   ReadableStat(archive_.get(), index, opened.name_));
  opened.is_stored_ = stat.comp_method == ZIP_CM_STORE;
  // Sizes in the archive's directory may be wrong; the size of the file is
  // certain.
  const auto stored_size = static_cast<int64_t>(
      std::min<uint64_t>(stat.comp_size, static_cast<uint64_t>(file_size_)));
  const int64_t ratio = opened.is_stored_ ? 1 : kMaxDeflateRatio;
  opened.capacity_bytes_ =
      static_cast<int64_t>(std::min<uint64_t>(stat.size, stored_size * ratio));
  opened.file_.reset(zip_fopen_index(archive_.get(), index, 0));
  if (opened.file_ == nullptr) {
    RETURN_IF_ERROR(opened.source().status());
    return ZipError(opened.name_, zip_get_error(archive_.get()));
  }
  return opened;
}

absl::StatusOr<std::optional<MemberPlace>> ZipArchive::FindStored(
    absl::string_view member) const {
  ASSIGN_OR_RETURN(const int64_t index, FindMember(member));
  MemberPlace stored;
  stored.name = NameOf(member);
  ASSIGN_OR_RETURN(const zip_stat_t stat,
                   ReadableStat(archive_.get(), index, stored.name));
  const bool has_checksum = (stat.valid & ZIP_STAT_CRC) != 0;
  if (stat.comp_method != ZIP_CM_STORE || stat.size == 0 || !has_checksum) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(ZipMember opened, OpenMember(member));
  // libzip does not tell where a member begins, but it reads its first byte
  // there. The checksum is of the bytes there, so it would tell if not.
  char first = 0;
  ASSIGN_OR_RETURN(const int64_t got, opened.Read(&first, 1));
  const ZipFileSource& source = *archive_.get_deleter().source;
  stored.file = source.file();
  stored.offset_bytes = source.last_read();
  const auto room = static_cast<zip_uint64_t>(file_size_ - stored.offset_bytes);
  if (got < 1 || stat.size != stat.comp_size || stat.size > room) {
    return Damaged(stored.name,
                   absl::StrFormat("has %d of %d bytes at byte %d",
                                   std::min<zip_uint64_t>(stat.size, room),
                                   stat.size, stored.offset_bytes));
  }
  stored.size_bytes = static_cast<int64_t>(stat.size);
  RETURN_IF_ERROR(CheckStoredCrc(stored, stat.crc));
  return stored;
}

}  // namespace paceline
