#include "common/callback/protobuf_encoding.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename T>
std::string MemoryOf(T number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

enum WireType { kVarint = 0, kDouble = 1, kBytes = 2 };

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Key(int field, WireType type) {
  return Varint(static_cast<uint64_t>(field) << 3 | type);
}

}  // namespace

std::string FixedBytes(float number) { return MemoryOf(number); }
std::string FixedBytes(double number) { return MemoryOf(number); }
std::string FixedBytes(uint32_t number) { return MemoryOf(number); }
std::string FixedBytes(uint64_t number) { return MemoryOf(number); }

std::string WholeField(int field, uint64_t value) {
  return absl::StrCat(Key(field, kVarint), Varint(value));
}

std::string DoubleField(int field, double value) {
  return absl::StrCat(Key(field, kDouble), FixedBytes(value));
}

std::string BytesField(int field, std::string value) {
  value.insert(0, absl::StrCat(Key(field, kBytes), Varint(value.size())));
  return value;
}

}  // namespace paceline
