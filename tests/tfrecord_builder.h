// Builds TFRecords and tf.train.Examples, for tests.
#ifndef PACELINE_TESTS_TFRECORD_BUILDER_H_
#define PACELINE_TESTS_TFRECORD_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/crc32c.h"

namespace paceline {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

// A field of a message that has a length.
inline std::string ProtoField(int number, absl::string_view bytes) {
  return absl::StrCat(Varint(number << 3 | 2), Varint(bytes.size()), bytes);
}

inline std::string LittleEndian(uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) {
    bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  return bytes;
}

// Each returns a Feature.
inline std::string BytesFeature(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += ProtoField(1, value);
  return ProtoField(1, list);
}
inline std::string FloatFeature(const std::vector<float>& values) {
  return ProtoField(
      2, ProtoField(
             1, absl::string_view(reinterpret_cast<const char*>(values.data()),
                                  values.size() * sizeof(float))));
}
inline std::string Int64Feature(const std::vector<int64_t>& values) {
  std::string packed;
  for (const int64_t value : values) {
    packed += Varint(static_cast<uint64_t>(value));
  }
  return ProtoField(3, ProtoField(1, packed));
}

// An Example of features by name.
inline std::string ExampleOf(
    const std::vector<std::pair<std::string, std::string>>& features) {
  std::string map;
  for (const auto& [name, feature] : features) {
    map += ProtoField(1, ProtoField(1, name) + ProtoField(2, feature));
  }
  return ProtoField(1, map);
}

inline std::string MaskedChecksum(absl::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  return LittleEndian(MaskCrc32c(ExtendCrc32c(0, {data, bytes.size()})), 4);
}

// A record as it lies in a file.
inline std::string Record(absl::string_view content) {
  const std::string size = LittleEndian(content.size(), 8);
  return absl::StrCat(size, MaskedChecksum(size), content,
                      MaskedChecksum(content));
}

}  // namespace paceline

#endif  // PACELINE_TESTS_TFRECORD_BUILDER_H_
