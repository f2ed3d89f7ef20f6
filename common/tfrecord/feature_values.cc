#include "common/tfrecord/feature_values.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstring>

namespace paceline {
namespace {

using ::google::protobuf::internal::WireFormatLite;
using ::google::protobuf::io::CodedInputStream;

// The field of all three lists.
constexpr int kValue = 1;
constexpr uint32_t TagOf(WireFormatLite::WireType type) {
  return WireFormatLite::MakeTag(kValue, type);
}
constexpr uint32_t kPacked = TagOf(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kFloat = TagOf(WireFormatLite::WIRETYPE_FIXED32);
constexpr uint32_t kInt64 = TagOf(WireFormatLite::WIRETYPE_VARINT);

// Calls `read(in, tag)` for each field of the list with one of the tags, until
// `out` has more than `limit` values: true if it has read the field, false if
// the field is malformed. Skips other fields.
template <typename T, typename Read>
bool ReadFields(absl::string_view list, uint32_t tag, uint32_t other_tag,
                size_t limit, std::vector<T>& out, const Read& read) {
  out.clear();
  CodedInputStream in(reinterpret_cast<const uint8_t*>(list.data()),
                      static_cast<int>(list.size()));
  while (const uint32_t found = in.ReadTag()) {
    const bool is_read = found == tag || found == other_tag
                             ? read(in, found)
                             : WireFormatLite::SkipField(&in, found);
    if (!is_read) return false;
    if (out.size() > limit) return true;
  }
  return in.ConsumedEntireMessage();
}

// The bytes of a field with a length.
bool ReadBytes(CodedInputStream& in, absl::string_view list,
               absl::string_view& out) {
  int size = 0;
  if (!in.ReadVarintSizeAsInt(&size)) return false;
  out = list.substr(in.CurrentPosition());
  if (!in.Skip(size)) return false;
  out = out.substr(0, size);
  return true;
}

bool AppendFloats(absl::string_view packed, size_t limit,
                  std::vector<float>& out) {
  if (packed.size() % sizeof(float) != 0) return false;
  const size_t begin = out.size();
  const size_t count =
      std::min(packed.size() / sizeof(float), limit + 1 - begin);
  out.resize(begin + count);
  // An empty vector has no address to copy to.
  if (count == 0) return true;
  std::memcpy(out.data() + begin, packed.data(), count * sizeof(float));
  return true;
}

bool AppendInts(absl::string_view packed, size_t limit,
                std::vector<int64_t>& out) {
  const int size = static_cast<int>(packed.size());
  CodedInputStream in(reinterpret_cast<const uint8_t*>(packed.data()), size);
  while (in.CurrentPosition() < size && out.size() <= limit) {
    uint64_t value = 0;
    if (!in.ReadVarint64(&value)) return false;
    out.push_back(static_cast<int64_t>(value));
  }
  return true;
}

}  // namespace

bool ReadFloatList(absl::string_view list, size_t limit,
                   std::vector<float>& out) {
  return ReadFields(list, kPacked, kFloat, limit, out,
                    [&](CodedInputStream& in, uint32_t tag) {
                      if (tag == kPacked) {
                        absl::string_view packed;
                        return ReadBytes(in, list, packed) &&
                               AppendFloats(packed, limit, out);
                      }
                      uint32_t bits = 0;
                      if (!in.ReadLittleEndian32(&bits)) return false;
                      out.push_back(WireFormatLite::DecodeFloat(bits));
                      return true;
                    });
}

bool ReadInt64List(absl::string_view list, size_t limit,
                   std::vector<int64_t>& out) {
  return ReadFields(list, kPacked, kInt64, limit, out,
                    [&](CodedInputStream& in, uint32_t tag) {
                      if (tag == kPacked) {
                        absl::string_view packed;
                        return ReadBytes(in, list, packed) &&
                               AppendInts(packed, limit, out);
                      }
                      uint64_t value = 0;
                      if (!in.ReadVarint64(&value)) return false;
                      out.push_back(static_cast<int64_t>(value));
                      return true;
                    });
}

bool ReadBytesList(absl::string_view list, size_t limit,
                   std::vector<absl::string_view>& out) {
  return ReadFields(list, kPacked, kPacked, limit, out,
                    [&](CodedInputStream& in, uint32_t /*tag*/) {
                      return ReadBytes(in, list, out.emplace_back());
                    });
}

}  // namespace paceline
