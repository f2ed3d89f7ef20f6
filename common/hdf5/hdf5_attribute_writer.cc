#include "common/hdf5/hdf5_attribute_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/hdf5/hdf5_bytes.h"
#include "common/hdf5/hdf5_format.h"
#include "glog/logging.h"

namespace paceline {
namespace {

using hdf5::AppendNumber;
using hdf5::PadTo8;

// HDF5's own library writes no smaller collection.
constexpr size_t kMinCollectionBytes = 4096;
// An object's number has 2 bytes.
constexpr size_t kMaxTexts = 65535;
// Padded to 8, its size has 2 bytes.
constexpr size_t kMaxMessageBytes = 65528;
// Ends at a NUL, or at the end of its bytes.
constexpr int kNullPadded = 1;
constexpr int kUtf8 = 1;

std::string MessageOf(absl::string_view name, const std::string& type,
                      const std::string& space, const std::string& data) {
  std::string bytes;
  AppendNumber(bytes, 1, 2);
  // With its NUL.
  AppendNumber(bytes, name.size() + 1, 2);
  AppendNumber(bytes, type.size(), 2);
  AppendNumber(bytes, space.size(), 2);
  absl::StrAppend(&bytes, name);
  bytes.push_back('\0');
  PadTo8(bytes);
  bytes += type;
  PadTo8(bytes);
  bytes += space;
  PadTo8(bytes);
  bytes += data;
  CHECK_LE(bytes.size(), kMaxMessageBytes) << name;
  return bytes;
}

// A string of any length: unsigned bytes, of which an element has the place.
std::string VariableTextType() {
  constexpr int kIsString = 1;
  std::string type;
  AppendNumber(type, 0x10 | hdf5::kVariableLength, 1);
  AppendNumber(type, kIsString | kUtf8 << 8, 3);
  AppendNumber(type, 16, 4);
  AppendNumber(type, 0x10 | hdf5::kFixedPoint, 1);
  AppendNumber(type, 0, 3);
  AppendNumber(type, 1, 4);
  AppendNumber(type, 0, 2);
  AppendNumber(type, 8, 2);
  return type;
}

}  // namespace

size_t Hdf5TextBytes(absl::Span<const std::string> list) {
  size_t bytes = 1;
  for (const std::string& text : list) bytes = std::max(bytes, text.size());
  return bytes;
}

namespace hdf5 {

std::string TextCollection(absl::Span<const absl::string_view> texts) {
  CHECK_LE(texts.size(), kMaxTexts);
  std::string objects;
  for (size_t i = 0; i < texts.size(); ++i) {
    AppendNumber(objects, i + 1, 2);
    // Attributes that have it.
    AppendNumber(objects, 1, 2);
    AppendNumber(objects, 0, 4);
    AppendNumber(objects, texts[i].size(), 8);
    absl::StrAppend(&objects, texts[i]);
    PadTo8(objects);
  }
  // Object 0 is the free space, with its header.
  const size_t used = kGlobalHeapHeaderBytes + objects.size();
  const size_t size =
      std::max<size_t>(kMinCollectionBytes, used + kGlobalHeapHeaderBytes);
  AppendNumber(objects, 0, 8);
  AppendNumber(objects, size - used, 8);
  std::string bytes = "GCOL";
  AppendNumber(bytes, 1, 4);
  AppendNumber(bytes, size, 8);
  bytes += objects;
  bytes.resize(size);
  return bytes;
}

std::string TextMessage(absl::string_view name, size_t size,
                        int64_t collection_address, size_t index) {
  CHECK_GT(size, size_t{0}) << name;
  // Version 1, no axes.
  std::string space;
  AppendNumber(space, 1, 8);
  std::string place;
  AppendNumber(place, size, 4);
  AppendNumber(place, collection_address, 8);
  AppendNumber(place, index, 4);
  return MessageOf(name, VariableTextType(), space, place);
}

std::string ListMessage(absl::string_view name,
                        absl::Span<const std::string> list) {
  const size_t text_bytes = Hdf5TextBytes(list);
  CHECK_LE(list.size() * text_bytes, kHdf5MaxListBytes) << name;
  std::string type;
  AppendNumber(type, 0x10 | kString, 1);
  AppendNumber(type, kNullPadded | kUtf8 << 4, 3);
  AppendNumber(type, text_bytes, 4);
  // Version 1, one axis.
  std::string space;
  AppendNumber(space, 0x0101, 8);
  AppendNumber(space, list.size(), 8);
  std::string data;
  for (const std::string& text : list) {
    data += text;
    data.resize(data.size() + text_bytes - text.size());
  }
  return MessageOf(name, type, space, data);
}

}  // namespace hdf5
}  // namespace paceline
