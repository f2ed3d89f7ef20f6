// A string of fixed length lies in the attribute's message, one of variable
// length in a collection of the global heap, to which the message points.
#include "common/hdf5/hdf5_attributes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/hdf5/hdf5_blocks.h"
#include "common/hdf5/hdf5_format.h"
#include "common/hdf5/hdf5_messages.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

using hdf5::Bytes;
using hdf5::Damaged;
using hdf5::Fields;
using hdf5::Message;

// Up to its first NUL.
std::string TextOf(absl::Span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size());
  return text.substr(0, text.find('\0'));
}

uint64_t PaddedTo8(uint64_t size) { return (size + 7) / 8 * 8; }

// The parts of an attribute's message.
struct Attribute {
  std::string name;
  absl::Span<const std::byte> type;
  absl::Span<const std::byte> space;
  absl::Span<const std::byte> value;
};

// Nullopt for versions that are not known.
absl::StatusOr<std::optional<Attribute>> Parse(const Message& message) {
  Fields fields(message.data);
  const uint64_t version = fields.Take(1);
  if (version != 1 && version != 3) return std::nullopt;
  const bool is_shared = fields.Take(1) != 0 && version == 3;
  if (is_shared) return std::nullopt;
  const uint64_t name_size = fields.Take(2);
  const uint64_t type_size = fields.Take(2);
  const uint64_t space_size = fields.Take(2);
  if (version == 3) fields.Skip(1);
  const auto take = [&](uint64_t size) {
    const absl::Span<const std::byte> bytes =
        fields.TakeBytes(version == 1 ? PaddedTo8(size) : size);
    return bytes.subspan(0, size);
  };
  Attribute attribute;
  attribute.name = TextOf(take(name_size));
  attribute.type = take(type_size);
  attribute.space = take(space_size);
  attribute.value = fields.rest();
  if (fields.is_cut()) return Damaged("an attribute is cut");
  return attribute;
}

class TextReader {
 public:
  explicit TextReader(RandomAccess& file) : blocks_(file) {}

  // Reads one attribute of each name, so the work stays linear in the size of
  // the file, even if many point to the same text.
  absl::StatusOr<std::map<std::string, std::string>> Read(
      const std::set<std::string>& names) {
    ASSIGN_OR_RETURN(const uint64_t root, blocks_.ReadSuperblock());
    ASSIGN_OR_RETURN(const std::vector<Message> messages,
                     blocks_.ReadMessages(root));
    std::map<std::string, std::string> texts;
    for (const Message& message : messages) {
      if (message.type != hdf5::kAttribute) continue;
      ASSIGN_OR_RETURN(const std::optional<Attribute> attribute,
                       Parse(message));
      if (!attribute || !names.contains(attribute->name) ||
          texts.contains(attribute->name)) {
        continue;
      }
      ASSIGN_OR_RETURN(std::optional<std::string> text, ReadText(*attribute));
      if (text) texts.emplace(attribute->name, *std::move(text));
    }
    return texts;
  }

 private:
  // Nullopt if it is not one string.
  absl::StatusOr<std::optional<std::string>> ReadText(
      const Attribute& attribute) {
    ASSIGN_OR_RETURN(const Shape shape,
                     hdf5::ParseShape(Fields(attribute.space)));
    if (!shape.empty()) return std::nullopt;
    Fields type(attribute.type);
    const uint64_t type_class = type.Take(1) & 0x0F;
    const uint64_t kind = type.Take(3) & 0x0F;
    const uint64_t size = type.Take(4);
    if (type_class == hdf5::kString) {
      if (size > attribute.value.size()) return Damaged("an attribute is cut");
      return TextOf(attribute.value.subspan(0, size));
    }
    const bool is_string = type_class == hdf5::kVariableLength && kind == 1;
    if (!is_string) return std::nullopt;
    Fields value(attribute.value);
    const uint64_t length = value.Take(4);
    const uint64_t collection = value.Take(8);
    const uint64_t index = value.Take(4);
    if (value.is_cut()) return Damaged("an attribute is cut");
    if (length == 0) return "";
    ASSIGN_OR_RETURN(const absl::Span<const std::byte> bytes,
                     FindInHeap(collection, index));
    if (length > bytes.size()) return Damaged("a text of the heap is cut");
    return TextOf(bytes.subspan(0, length));
  }

  // Object `index` of the collection at `address`.
  absl::StatusOr<absl::Span<const std::byte>> FindInHeap(uint64_t address,
                                                         uint64_t index) {
    ASSIGN_OR_RETURN(const Bytes* const objects, ReadCollection(address));
    Fields fields(*objects);
    while (fields.rest().size() >= hdf5::kGlobalHeapHeaderBytes) {
      const uint64_t found = fields.Take(2);
      fields.Skip(6);
      const uint64_t size = fields.Take(8);
      if (found == 0 || size > fields.rest().size()) break;
      const absl::Span<const std::byte> bytes = fields.TakeBytes(size);
      if (found == index) return bytes;
      fields.Skip(
          std::min<uint64_t>(PaddedTo8(size) - size, fields.rest().size()));
    }
    return Damaged(
        absl::StrCat("the heap at ", address, " has no object ", index));
  }

  // Several texts may lie in one collection.
  absl::StatusOr<const Bytes*> ReadCollection(uint64_t address) {
    const auto known = collections_.find(address);
    if (known != collections_.end()) return &known->second;
    ASSIGN_OR_RETURN(const Bytes header,
                     blocks_.ReadBlock(address, hdf5::kGlobalHeapHeaderBytes,
                                       "a global heap"));
    Fields fields(header);
    if (!hdf5::BeginsWith(header, "GCOL")) {
      return Damaged(absl::StrCat("there is no global heap at ", address));
    }
    fields.Skip(8);
    const uint64_t size = fields.Take(8);
    if (size < hdf5::kGlobalHeapHeaderBytes) {
      return Damaged("a global heap is smaller than its header");
    }
    ASSIGN_OR_RETURN(Bytes objects,
                     blocks_.ReadBlock(address + hdf5::kGlobalHeapHeaderBytes,
                                       size - hdf5::kGlobalHeapHeaderBytes,
                                       "the objects of a global heap"));
    return &(collections_[address] = std::move(objects));
  }

  hdf5::BlockReader blocks_;
  std::map<uint64_t, Bytes> collections_;
};

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ReadHdf5Texts(
    RandomAccess& file, const std::set<std::string>& names) {
  return TextReader(file).Read(names);
}

}  // namespace paceline
