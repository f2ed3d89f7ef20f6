#include "common/tfrecord/feature_values.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

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

// Calls `read(in, tag)` for each field of the list: true if it has read the
// field, false if the field is malformed. Skips fields of other tags.
template <typename Read>
bool ReadFields(absl::string_view list, uint32_t tag, uint32_t other_tag,
                const Read& read) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(list.data()),
                      static_cast<int>(list.size()));
  while (const uint32_t found = in.ReadTag()) {
    const bool is_read = found == tag || found == other_tag
                             ? read(in, found)
                             : WireFormatLite::SkipField(&in, found);
    if (!is_read) return false;
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

bool AppendFloats(absl::string_view packed, std::vector<float>& out) {
  if (packed.size() % sizeof(float) != 0) return false;
  const size_t begin = out.size();
  out.resize(begin + packed.size() / sizeof(float));
  // An empty vector has no address to copy to.
  if (packed.empty()) return true;
  std::memcpy(out.data() + begin, packed.data(), packed.size());
  return true;
}

bool AppendInts(CodedInputStream& in, std::vector<int64_t>& out) {
  int size = 0;
  if (!in.ReadVarintSizeAsInt(&size)) return false;
  const CodedInputStream::Limit limit = in.PushLimit(size);
  while (in.BytesUntilLimit() > 0) {
    uint64_t value = 0;
    if (!in.ReadVarint64(&value)) return false;
    out.push_back(static_cast<int64_t>(value));
  }
  in.PopLimit(limit);
  return true;
}

}  // namespace

bool ReadFloatList(absl::string_view list, std::vector<float>& out) {
  out.clear();
  return ReadFields(
      list, kPacked, kFloat, [&](CodedInputStream& in, uint32_t tag) {
        if (tag == kPacked) {
          absl::string_view packed;
          return ReadBytes(in, list, packed) && AppendFloats(packed, out);
        }
        uint32_t bits = 0;
        if (!in.ReadLittleEndian32(&bits)) return false;
        out.push_back(WireFormatLite::DecodeFloat(bits));
        return true;
      });
}

bool ReadInt64List(absl::string_view list, std::vector<int64_t>& out) {
  out.clear();
  return ReadFields(list, kPacked, kInt64,
                    [&](CodedInputStream& in, uint32_t tag) {
                      if (tag == kPacked) return AppendInts(in, out);
                      uint64_t value = 0;
                      if (!in.ReadVarint64(&value)) return false;
                      out.push_back(static_cast<int64_t>(value));
                      return true;
                    });
}

bool ReadBytesList(absl::string_view list,
                   std::vector<absl::string_view>& out) {
  out.clear();
  return ReadFields(list, kPacked, kPacked,
                    [&](CodedInputStream& in, uint32_t /*tag*/) {
                      return ReadBytes(in, list, out.emplace_back());
                    });
}

}  // namespace paceline
