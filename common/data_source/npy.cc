#include "common/data_source/npy.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/config/value.h"
#include "common/data_source/gzip_file.h"

namespace paceline {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are taken as they are stored");

constexpr absl::string_view kMagic = "\x93NUMPY";
// Bytes before the header in version 1 of the format: magic number, version,
// length of the header. Header and these are a multiple of the alignment.
constexpr size_t kStartBytes = 10;
constexpr size_t kAlignment = 64;
// Maximum size of an array's header: what the first version of the format
// allows.
constexpr int64_t kMaxHeaderBytes = 65535;

// Supported values of `descr`.
constexpr std::pair<absl::string_view, ElementType> kTypes[] = {
    {"|u1", ElementType::kUint8},   {"|i1", ElementType::kInt8},
    {"<i2", ElementType::kInt16},   {"<i4", ElementType::kInt32},
    {"<i8", ElementType::kInt64},   {"<f4", ElementType::kFloat32},
    {"<f8", ElementType::kFloat64}, {"|b1", ElementType::kUint8},
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

  absl::StatusOr<NpyHeader> Parse() {
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
  NpyHeader header_;
};

uint32_t LittleEndian(const unsigned char* bytes, int count) {
  uint32_t number = 0;
  for (int i = count - 1; i >= 0; --i) number = number << 8 | bytes[i];
  return number;
}

// Reads exactly `size` bytes.
absl::Status ReadField(const std::string& name, absl::string_view field,
                       const ReadBytes& read, void* out, int64_t size) {
  ASSIGN_OR_RETURN(const int64_t got, read(out, size));
  if (got == size) return absl::OkStatus();
  return Truncated(name, field, got, size);
}

}  // namespace

absl::StatusOr<NpyHeader> ReadNpyHeader(const std::string& name,
                                        const ReadBytes& read) {
  unsigned char start[8] = {};
  RETURN_IF_ERROR(ReadField(name, "magic number", read, start, sizeof(start)));
  if (std::memcmp(start, kMagic.data(), kMagic.size()) != 0) {
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
  RETURN_IF_ERROR(ReadField(name, "length", read, length, length_bytes));
  const int64_t size = LittleEndian(length, length_bytes);
  if (size > kMaxHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: the header has %d bytes, expected at most %d",
                        name, size, kMaxHeaderBytes));
  }
  std::string text(size, '\0');
  RETURN_IF_ERROR(ReadField(name, "header", read, text.data(), size));
  return HeaderParser(name, text).Parse();
}

absl::StatusOr<NpyHeader> ReadNpyHeader(const std::string& path) {
  ASSIGN_OR_RETURN(GzipFile file, GzipFile::Open(path));
  return ReadNpyHeader(
      path, [&file](void* out, int64_t size) { return file.Read(out, size); });
}

absl::StatusOr<StoredArray> ReadNpy(const std::string& path) {
  ASSIGN_OR_RETURN(GzipFile file, GzipFile::Open(path));
  const auto read = [&file](void* out, int64_t size) {
    return file.Read(out, size);
  };
  ASSIGN_OR_RETURN(NpyHeader header, ReadNpyHeader(path, read));
  return ReadStoredArray(path, header.type, std::move(header.shape),
                         {file.capacity_bytes(), read});
}

absl::StatusOr<ArrayValues> OpenNpyPart(const std::string& name, FilePart part,
                                        int64_t max_held_bytes) {
  ASSIGN_OR_RETURN(NpyHeader header,
                   ReadNpyHeader(name, [&part](void* out, int64_t size) {
                     return part.Read(out, size);
                   }));
  return part.Rest(name, header.type, std::move(header.shape), max_held_bytes);
}

absl::StatusOr<ArrayValues> OpenNpy(const std::string& path,
                                    int64_t max_held_bytes) {
  ASSIGN_OR_RETURN(StableFile opened, StableFile::Open(path));
  unsigned char start[2] = {};
  const int64_t size = opened.size_bytes();
  RETURN_IF_ERROR(opened.ReadAt(0, reinterpret_cast<char*>(start),
                                std::min<int64_t>(size, sizeof(start))));
  if (start[0] == 0x1F && start[1] == 0x8B) return ReadNpy(path);
  auto file = std::make_shared<const StableFile>(std::move(opened));
  return OpenNpyPart(path, FilePart(std::move(file), 0, size), max_held_bytes);
}

absl::StatusOr<StoredRows> OpenNpyRows(std::unique_ptr<ArrayBytes> bytes,
                                       RowOrder order) {
  int64_t offset = 0;
  const auto read = [&](void* out, int64_t size) -> absl::StatusOr<int64_t> {
    ASSIGN_OR_RETURN(const int64_t got, bytes->Read(out, size));
    offset += got;
    return got;
  };
  ASSIGN_OR_RETURN(NpyHeader header, ReadNpyHeader(bytes->name(), read));
  StoredValuesSpec spec;
  spec.type = header.type;
  spec.shape = std::move(header.shape);
  spec.offset_bytes = offset;
  return StoredRows::Make(std::move(bytes), std::move(spec), order);
}

absl::StatusOr<StoredRows> OpenNpyRows(const std::string& path,
                                       RowOrder order) {
  ASSIGN_OR_RETURN(GzipFile file, GzipFile::Open(path));
  return OpenNpyRows(BytesOf(std::move(file)), order);
}

std::string NpyStart(const Shape& shape) {
  std::string header = absl::StrCat(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (",
      absl::StrJoin(shape, ", "), shape.size() == 1 ? ",), }" : "), }");
  const size_t end = kStartBytes + header.size() + 1;
  header.append((kAlignment - end % kAlignment) % kAlignment, ' ');
  header.push_back('\n');
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size()),
            static_cast<char>(header.size() >> 8)};
  return start + header;
}

}  // namespace paceline
