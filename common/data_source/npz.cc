#include "common/data_source/npz.h"

#include <zip.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/config/value.h"
#include "common/data_source/stored_array.h"

namespace paceline {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are taken as they are stored");

constexpr char kSuffix[] = ".npy";
// Maximum size of an array's header: what the first version of the format
// allows.
constexpr int64_t kMaxHeaderBytes = 65535;

struct Close {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

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

// The error of opening an archive.
absl::Status OpenError(const std::string& path, int code) {
  if (code == ZIP_ER_NOZIP) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is no zip archive or lacks its end, expected a NumPy archive"));
  }
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  absl::Status status = ZipError(path, &error);
  zip_error_fini(&error);
  return status;
}

// The names of the first arrays in an archive, for errors about an unknown
// name.
std::string ArrayNames(zip_t* archive) {
  constexpr zip_int64_t kMaxNames = 10;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  std::vector<std::string> names;
  for (zip_int64_t i = 0; i < std::min(count, kMaxNames); ++i) {
    const char* name = zip_get_name(archive, i, 0);
    if (name == nullptr) continue;
    names.push_back(Excerpt(std::string(absl::StripSuffix(name, kSuffix))));
  }
  if (count > kMaxNames) names.push_back("...");
  return absl::StrJoin(names, ", ");
}

// The entry of an array. An error if there are several; libzip would return the
// first.
absl::StatusOr<zip_int64_t> FindArray(zip_t* archive, const std::string& path,
                                      const std::string& array) {
  const std::string wanted = absl::StrCat(array, kSuffix);
  const zip_int64_t entries = zip_get_num_entries(archive, 0);
  zip_int64_t found = 0;
  int64_t count = 0;
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* name = zip_get_name(archive, i, 0);
    if (name == nullptr || name != wanted) continue;
    found = i;
    ++count;
  }
  if (count == 1) return found;
  if (count > 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": there are ", count,
                                                   " arrays ", Excerpt(array),
                                                   ", expected one"));
  }
  const std::string names = ArrayNames(archive);
  return absl::NotFoundError(
      absl::StrCat(path, ": there is no array ", Excerpt(array),
                   names.empty() ? ", nor any other"
                                 : absl::StrCat(", expected one of ", names)));
}

// Reads an entry of an archive sequentially.
class ZipEntry {
 public:
  // `name`: the array in errors. `file_size`: the archive's size.
  static absl::StatusOr<ZipEntry> Open(zip_t* archive, zip_int64_t index,
                                       std::string name, uint64_t file_size) {
    ZipEntry entry(std::move(name));
    RETURN_IF_ERROR(entry.Find(archive, index, file_size));
    return entry;
  }

  const std::string& name() const { return name_; }
  // An upper bound of the remaining bytes, derived from the archive's directory
  // and the size of the file.
  int64_t capacity_bytes() const { return capacity_bytes_; }

  // Reads `size` bytes; fewer only at the end of the entry, where libzip
  // compares the checksum.
  absl::StatusOr<int64_t> Read(void* out, int64_t size) {
    int64_t total = 0;
    while (total < size) {
      const auto wanted = static_cast<zip_uint64_t>(
          std::min<int64_t>(size - total, int64_t{1} << 30));
      const zip_int64_t count =
          zip_fread(entry_.get(), static_cast<char*>(out) + total, wanted);
      if (count < 0) return ZipError(name_, zip_file_get_error(entry_.get()));
      if (count == 0) break;
      total += count;
    }
    capacity_bytes_ -= total;
    return total;
  }

 private:
  explicit ZipEntry(std::string name) : name_(std::move(name)) {}

  absl::Status Find(zip_t* archive, zip_int64_t index, uint64_t file_size) {
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                     ZIP_STAT_COMP_METHOD |
                                     ZIP_STAT_ENCRYPTION_METHOD;
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive, index, 0, &stat) != 0 ||
        (stat.valid & kNeeded) != kNeeded) {
      return ZipError(name_, zip_get_error(archive));
    }
    if (stat.encryption_method != ZIP_EM_NONE) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, ": is encrypted, expected plain data"));
    }
    if (stat.comp_method != ZIP_CM_STORE &&
        stat.comp_method != ZIP_CM_DEFLATE) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: the compression method is %d, expected 0 (stored) or 8 "
          "(deflated)",
          name_, stat.comp_method));
    }
    // Sizes in the archive's directory may be wrong; the size of the file is
    // certain.
    const auto stored_size =
        static_cast<int64_t>(std::min<uint64_t>(stat.comp_size, file_size));
    const int64_t ratio =
        stat.comp_method == ZIP_CM_STORE ? 1 : kMaxDeflateRatio;
    capacity_bytes_ = static_cast<int64_t>(
        std::min<uint64_t>(stat.size, stored_size * ratio));
    entry_.reset(zip_fopen_index(archive, index, 0));
    if (entry_ != nullptr) return absl::OkStatus();
    return ZipError(name_, zip_get_error(archive));
  }

  std::string name_;
  std::unique_ptr<zip_file_t, Close> entry_;
  int64_t capacity_bytes_ = 0;
};

// Supported values of `descr`.
constexpr std::pair<absl::string_view, ElementType> kTypes[] = {
    {"|u1", ElementType::kUint8},   {"|i1", ElementType::kInt8},
    {"<i2", ElementType::kInt16},   {"<i4", ElementType::kInt32},
    {"<i8", ElementType::kInt64},   {"<f4", ElementType::kFloat32},
    {"<f8", ElementType::kFloat64},
};

std::string TypeNames() {
  return absl::StrJoin(kTypes, ", ", [](std::string* text, const auto& type) {
    absl::StrAppend(text, type.first);
  });
}

// All of these keys are required.
constexpr absl::string_view kKeys[] = {"descr", "fortran_order", "shape"};

std::string KeyNames() { return absl::StrJoin(kKeys, ", "); }

// Parses the dictionary in a header.
class HeaderParser {
 public:
  // `name`: the array in errors.
  HeaderParser(const std::string& name, absl::string_view text)
      : name_(name), rest_(text) {}

  absl::StatusOr<NpzHeader> Parse() {
    if (!Take("{")) return Expected("{");
    while (!Take("}")) {
      ASSIGN_OR_RETURN(const absl::string_view key, TakeString("a key"));
      if (!Take(":")) return Expected(":");
      RETURN_IF_ERROR(TakeKey(key));
      RETURN_IF_ERROR(TakeValue(key));
      if (Take(",")) continue;
      if (!Take("}")) return Expected(", or }");
      break;
    }
    if (!absl::StripLeadingAsciiWhitespace(rest_).empty()) {
      return Expected("nothing more");
    }
    if (keys_.size() < std::size(kKeys)) {
      return absl::InvalidArgumentError(absl::StrCat(
          name_, ": the header lacks a key, expected ", KeyNames()));
    }
    RETURN_IF_ERROR(CheckStoredShape(name_, header_.shape));
    return std::move(header_);
  }

 private:
  absl::Status Expected(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": the header goes on with ",
                     Excerpt(std::string(rest_)), ", expected ", what));
  }

  // Skips white space, then `token`; returns whether the token was there.
  bool Take(absl::string_view token) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    return absl::ConsumePrefix(&rest_, token);
  }

  absl::StatusOr<absl::string_view> TakeString(absl::string_view what) {
    const char quote = Take("'") ? '\'' : Take("\"") ? '"' : '\0';
    const size_t end = rest_.find(quote);
    if (quote == '\0' || end == absl::string_view::npos) return Expected(what);
    const absl::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  // A key may occur only once. Python would use the last.
  absl::Status TakeKey(absl::string_view key) {
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, ": the header has the key ",
                       Excerpt(std::string(key)), ", expected ", KeyNames()));
    }
    if (keys_.insert(key).second) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": the header has the key ",
                     Excerpt(std::string(key)), " twice, expected it once"));
  }

  absl::Status TakeValue(absl::string_view key) {
    if (key == "descr") return TakeType();
    if (key == "fortran_order") return TakeOrder();
    return TakeShape();
  }

  absl::Status TakeType() {
    const std::string expected = absl::StrCat("one of ", TypeNames());
    ASSIGN_OR_RETURN(const absl::string_view descr, TakeString(expected));
    for (const auto& [name, type] : kTypes) {
      if (name != descr) continue;
      header_.type = type;
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(name_, ": descr is ",
                                                   Excerpt(std::string(descr)),
                                                   ", expected ", expected));
  }

  absl::Status TakeOrder() {
    if (Take("False")) return absl::OkStatus();
    if (!Take("True")) return Expected("False");
    return absl::InvalidArgumentError(
        absl::StrCat(name_,
                     ": fortran_order is True, expected False: C order, as "
                     "numpy.ascontiguousarray makes it"));
  }

  absl::Status TakeShape() {
    if (!Take("(")) return Expected("(");
    while (!Take(")")) {
      size_t digits = 0;
      while (digits < rest_.size() && absl::ascii_isdigit(rest_[digits])) {
        ++digits;
      }
      if (!absl::SimpleAtoi(rest_.substr(0, digits),
                            &header_.shape.emplace_back())) {
        return Expected("a dimension");
      }
      rest_.remove_prefix(digits);
      if (Take(",")) continue;
      if (!Take(")")) return Expected(", or )");
      break;
    }
    return absl::OkStatus();
  }

  const std::string& name_;
  absl::string_view rest_;
  // Keys that were read.
  std::set<absl::string_view> keys_;
  NpzHeader header_;
};

uint32_t LittleEndian(const unsigned char* bytes, int count) {
  uint32_t number = 0;
  for (int i = count - 1; i >= 0; --i) number = number << 8 | bytes[i];
  return number;
}

// Reads exactly `size` bytes.
absl::Status ReadField(ZipEntry& entry, absl::string_view field, void* out,
                       int64_t size) {
  ASSIGN_OR_RETURN(const int64_t got, entry.Read(out, size));
  if (got == size) return absl::OkStatus();
  return Truncated(entry.name(), field, got, size);
}

absl::StatusOr<NpzHeader> ReadHeaderOf(ZipEntry& entry) {
  constexpr unsigned char kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  const std::string& name = entry.name();
  unsigned char start[8] = {};
  RETURN_IF_ERROR(ReadField(entry, "magic number", start, sizeof(start)));
  if (std::memcmp(start, kMagic, sizeof(kMagic)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": does not begin with \\x93NUMPY, expected a NumPy array"));
  }
  const int version = start[6];
  if (version < 1 || version > 3) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: the version of the format is %d, expected 1 to 3", name, version));
  }
  unsigned char length[4] = {};
  const int length_bytes = version == 1 ? 2 : 4;
  RETURN_IF_ERROR(ReadField(entry, "length", length, length_bytes));
  const int64_t size = LittleEndian(length, length_bytes);
  if (size > kMaxHeaderBytes) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%s: the header has %d bytes, expected at most %d",
                        name, size, kMaxHeaderBytes));
  }
  std::string text(size, '\0');
  RETURN_IF_ERROR(ReadField(entry, "header", text.data(), size));
  return HeaderParser(name, text).Parse();
}

}  // namespace

void NpzArchive::Discard::operator()(zip* archive) const {
  zip_discard(archive);
}

absl::StatusOr<NpzArchive> NpzArchive::Open(const std::string& path) {
  ASSIGN_OR_RETURN(const int64_t file_size, FileSize(path));
  int code = 0;
  Zip archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive == nullptr) return OpenError(path, code);
  return NpzArchive(path, file_size, std::move(archive));
}

std::string NpzArchive::NameOf(absl::string_view array) const {
  return absl::StrCat(path_, ": ", array);
}

absl::StatusOr<NpzHeader> NpzArchive::ReadHeader(
    const std::string& array) const {
  ASSIGN_OR_RETURN(const zip_int64_t index,
                   FindArray(archive_.get(), path_, array));
  ASSIGN_OR_RETURN(ZipEntry entry, ZipEntry::Open(archive_.get(), index,
                                                  NameOf(array), file_size_));
  return ReadHeaderOf(entry);
}

absl::StatusOr<StoredArray> NpzArchive::Read(const std::string& array) const {
  ASSIGN_OR_RETURN(const zip_int64_t index,
                   FindArray(archive_.get(), path_, array));
  ASSIGN_OR_RETURN(ZipEntry entry, ZipEntry::Open(archive_.get(), index,
                                                  NameOf(array), file_size_));
  ASSIGN_OR_RETURN(NpzHeader header, ReadHeaderOf(entry));
  return ReadStoredArray(
      entry.name(), header.type, std::move(header.shape),
      {entry.capacity_bytes(),
       [&entry](void* out, int64_t size) { return entry.Read(out, size); }});
}

}  // namespace paceline
