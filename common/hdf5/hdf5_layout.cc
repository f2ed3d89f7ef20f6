// Groups are written behind what is in them, since they hold its addresses, so
// the root comes last. hdf5_index.cc has a picture of the structure.
#include "common/hdf5/hdf5_layout.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/hdf5/hdf5_bytes.h"
#include "glog/logging.h"

namespace paceline {
namespace {

using hdf5::AppendNumber;
using hdf5::RoundUpTo8;

// The sizes of nodes are those of HDF5's own library, since a node of any file
// has the size that the superblock states, full or not.
constexpr size_t kSymbolsPerNode = 8;
constexpr size_t kChildrenPerNode = 32;

// What is at a path: a group, or a dataset.
struct Object {
  // By name; in the order of the names' bytes, as HDF5 wants symbols.
  std::map<std::string, std::unique_ptr<Object>> inner;
  // Of a dataset.
  const Hdf5Entry* entry = nullptr;
  size_t index = 0;
  // Of a group.
  std::vector<const Hdf5Attribute*> attributes;
};

// A child of a node of a tree, with the place of its last name in the heap.
struct Child {
  int64_t address = 0;
  int64_t last_name = 0;
};

class Writer {
 public:
  // `offsets`: of the elements of each entry, relative to the end of the head.
  explicit Writer(absl::Span<const int64_t> offsets) : offsets_(offsets) {}

  std::string Write(const Object& root, int64_t data_bytes) {
    head_.assign(hdf5::kSuperblockBytes, '\0');
    WriteTexts(root);
    const Group group = WriteGroup(root);
    for (const size_t place : data_addresses_) {
      Patch(place, Number(place) + static_cast<int64_t>(head_.size()));
    }
    const std::string superblock =
        Superblock(group, static_cast<int64_t>(head_.size()) + data_bytes);
    CHECK_EQ(superblock.size(), size_t{hdf5::kSuperblockBytes});
    head_.replace(0, superblock.size(), superblock);
    return std::move(head_);
  }

 private:
  struct Group {
    int64_t header = 0;
    int64_t tree = 0;
    int64_t heap = 0;
  };

  void Put(uint64_t number, size_t count) {
    AppendNumber(head_, number, count);
  }
  void PadTo(size_t size) {
    CHECK_LE(head_.size(), size);
    head_.resize(size);
  }
  int64_t here() const { return static_cast<int64_t>(head_.size()); }

  int64_t Number(size_t place) const {
    uint64_t number = 0;
    for (size_t i = 8; i-- > 0;) {
      number = number << 8 | static_cast<uint8_t>(head_[place + i]);
    }
    return static_cast<int64_t>(number);
  }
  void Patch(size_t place, int64_t number) {
    std::string bytes;
    AppendNumber(bytes, number, 8);
    head_.replace(place, bytes.size(), bytes);
  }

  static std::string Superblock(const Group& root, int64_t end) {
    std::string bytes(hdf5::kSignature);
    // The versions of the superblock and its parts, the sizes of addresses and
    // of lengths.
    for (const int number : {0, 0, 0, 0, 0, 8, 8, 0})
      AppendNumber(bytes, number, 1);
    AppendNumber(bytes, kSymbolsPerNode / 2, 2);
    AppendNumber(bytes, kChildrenPerNode / 2, 2);
    AppendNumber(bytes, 0, 4);
    AppendNumber(bytes, 0, 8);
    AppendNumber(bytes, hdf5::kUndefined, 8);
    AppendNumber(bytes, end, 8);
    AppendNumber(bytes, hdf5::kUndefined, 8);
    // The symbol of the root, with its tree and its heap.
    AppendNumber(bytes, 0, 8);
    AppendNumber(bytes, root.header, 8);
    AppendNumber(bytes, 1, 8);
    AppendNumber(bytes, root.tree, 8);
    AppendNumber(bytes, root.heap, 8);
    return bytes;
  }

  // An object header with `messages`, each padded to 8 bytes. Returns its
  // address.
  int64_t WriteHeader(
      absl::Span<const std::pair<uint16_t, std::string>> messages) {
    int64_t size = 0;
    for (const auto& [type, data] : messages) {
      size += hdf5::kMessageHeaderBytes +
              RoundUpTo8(static_cast<int64_t>(data.size()));
    }
    const int64_t address = here();
    Put(1, 2);
    Put(messages.size(), 2);
    Put(1, 4);
    Put(size, 4);
    Put(0, 4);
    for (const auto& [type, data] : messages) {
      const int64_t padded = RoundUpTo8(static_cast<int64_t>(data.size()));
      Put(type, 2);
      Put(padded, 2);
      Put(0, 4);
      head_ += data;
      PadTo(head_.size() + (padded - data.size()));
    }
    return address;
  }

  static std::string TypeMessage(const Hdf5Type& type) {
    std::string bytes;
    if (type.kind == Hdf5Type::Kind::kFloat) {
      const auto* layout = std::find_if(
          std::begin(hdf5::kFloatLayouts), std::end(hdf5::kFloatLayouts),
          [&](const auto& each) { return each.size_bytes == type.size_bytes; });
      CHECK(layout != std::end(hdf5::kFloatLayouts)) << type.size_bytes;
      AppendNumber(bytes, 0x10 | hdf5::kFloatingPoint, 1);
      AppendNumber(bytes, (type.size_bytes * 8 - 1) << 8 | 0x20, 3);
      AppendNumber(bytes, type.size_bytes, 4);
      AppendNumber(bytes, 0, 2);
      AppendNumber(bytes, type.size_bytes * 8, 2);
      for (const int number :
           {int{layout->exponent_at}, int{layout->exponent_bits}, 0,
            int{layout->mantissa_bits}}) {
        AppendNumber(bytes, number, 1);
      }
      AppendNumber(bytes, layout->exponent_bias, 4);
      return bytes;
    }
    const bool is_signed = type.kind == Hdf5Type::Kind::kSigned;
    CHECK(is_signed || type.kind == Hdf5Type::Kind::kUnsigned);
    AppendNumber(bytes, 0x10 | hdf5::kFixedPoint, 1);
    AppendNumber(bytes, is_signed ? 0x08 : 0, 3);
    AppendNumber(bytes, type.size_bytes, 4);
    AppendNumber(bytes, 0, 2);
    AppendNumber(bytes, type.size_bytes * 8, 2);
    return bytes;
  }

  int64_t WriteDataset(const Object& dataset) {
    const Hdf5Entry& entry = *dataset.entry;
    std::string space;
    for (const size_t number : {size_t{1}, entry.shape.size()}) {
      AppendNumber(space, number, 1);
    }
    AppendNumber(space, 0, 6);
    for (const int64_t size : entry.shape) AppendNumber(space, size, 8);
    // Space is allocated late, the fill value is the default: zero.
    std::string fill;
    for (const int number : {2, 2, 2, 1}) AppendNumber(fill, number, 1);
    AppendNumber(fill, 0, 4);
    std::string layout;
    AppendNumber(layout, 3, 1);
    AppendNumber(layout, 1, 1);
    AppendNumber(layout, offsets_[dataset.index], 8);
    AppendNumber(layout, NumElements(entry.shape) * entry.type.size_bytes, 8);
    const std::pair<uint16_t, std::string> messages[] = {
        {hdf5::kDataspace, space},
        {hdf5::kDatatype, TypeMessage(entry.type)},
        {hdf5::kFillValue, fill},
        {hdf5::kDataLayout, layout}};
    const int64_t address = WriteHeader(messages);
    // The layout is the last message, padded from 18 to 24 bytes.
    data_addresses_.push_back(head_.size() - 24 + 2);
    return address;
  }

  // Writes the collection of the texts of all attributes, if there are any.
  void WriteTexts(const Object& root) {
    std::vector<absl::string_view> texts;
    AddTexts(root, texts);
    if (texts.empty()) return;
    collection_ = here();
    head_ += hdf5::TextCollection(texts);
  }

  void AddTexts(const Object& object, std::vector<absl::string_view>& texts) {
    for (const Hdf5Attribute* attribute : object.attributes) {
      const auto* const text = std::get_if<std::string>(&attribute->value);
      if (text == nullptr) continue;
      texts.push_back(*text);
      text_numbers_[attribute] = texts.size();
    }
    for (const auto& [name, inner] : object.inner) AddTexts(*inner, texts);
  }

  std::string AttributeMessage(const Hdf5Attribute& attribute) const {
    if (const auto* const list =
            std::get_if<std::vector<std::string>>(&attribute.value)) {
      return hdf5::ListMessage(attribute.name, *list);
    }
    return hdf5::TextMessage(attribute.name,
                             std::get<std::string>(attribute.value).size(),
                             collection_, text_numbers_.at(&attribute));
  }

  Group WriteGroup(const Object& group) {
    struct Symbol {
      int64_t name = 0;
      int64_t header = 0;
    };
    std::vector<Symbol> symbols;
    // The name at 0 is empty.
    std::string names(8, '\0');
    for (const auto& [name, object] : group.inner) {
      const int64_t header = object->entry != nullptr
                                 ? WriteDataset(*object)
                                 : WriteGroup(*object).header;
      symbols.push_back({static_cast<int64_t>(names.size()), header});
      names += name;
      names.resize(RoundUpTo8(static_cast<int64_t>(names.size()) + 1));
    }
    std::vector<Child> children;
    for (size_t i = 0; i < symbols.size(); i += kSymbolsPerNode) {
      const size_t count = std::min(kSymbolsPerNode, symbols.size() - i);
      children.push_back({here(), symbols[i + count - 1].name});
      head_ += "SNOD";
      Put(1, 2);
      Put(count, 2);
      for (size_t j = i; j < i + count; ++j) {
        Put(symbols[j].name, 8);
        Put(symbols[j].header, 8);
        PadTo(head_.size() + 24);
      }
      PadTo(head_.size() + (kSymbolsPerNode - count) * hdf5::kSymbolBytes);
    }
    Group written;
    written.tree = WriteTree(std::move(children));
    written.heap = WriteHeap(names);
    std::string table;
    AppendNumber(table, written.tree, 8);
    AppendNumber(table, written.heap, 8);
    std::vector<std::pair<uint16_t, std::string>> messages = {
        {hdf5::kSymbolTable, table}};
    for (const Hdf5Attribute* attribute : group.attributes) {
      messages.emplace_back(hdf5::kAttribute, AttributeMessage(*attribute));
    }
    written.header = WriteHeader(messages);
    return written;
  }

  int64_t WriteHeap(const std::string& names) {
    const int64_t address = here();
    head_ += "HEAP";
    Put(0, 4);
    Put(names.size(), 8);
    // There is no free space.
    Put(1, 8);
    Put(address + hdf5::kHeapHeaderBytes, 8);
    head_ += names;
    return address;
  }

  // Writes the levels of a tree, the lowest first, until one node is left.
  int64_t WriteTree(std::vector<Child> children) {
    for (int level = 0;; ++level) {
      const size_t count = std::max<size_t>(
          (children.size() + kChildrenPerNode - 1) / kChildrenPerNode, 1);
      std::vector<Child> nodes;
      const int64_t first = here();
      for (size_t i = 0; i < count; ++i) {
        nodes.push_back(WriteTreeNode(children, i, count, level, first));
      }
      if (count == 1) return nodes[0].address;
      children = std::move(nodes);
    }
  }

  // Node `node` of `count` on a level whose first node is at `first`.
  Child WriteTreeNode(absl::Span<const Child> children, size_t node,
                      size_t count, int level, int64_t first) {
    constexpr int64_t kNodeBytes =
        hdf5::kTreeHeaderBytes + 16 * kChildrenPerNode + 8;
    const auto address_of = [&](size_t index) {
      return index < count ? static_cast<uint64_t>(first) + index * kNodeBytes
                           : hdf5::kUndefined;
    };
    const size_t begin = node * kChildrenPerNode;
    const auto own = children.subspan(begin, kChildrenPerNode);
    const int64_t address = here();
    head_ += "TREE";
    Put(0, 1);
    Put(level, 1);
    Put(own.size(), 2);
    Put(node == 0 ? hdf5::kUndefined : address_of(node - 1), 8);
    Put(address_of(node + 1), 8);
    int64_t last_name = begin == 0 ? 0 : children[begin - 1].last_name;
    for (const Child& child : own) {
      Put(last_name, 8);
      Put(child.address, 8);
      last_name = child.last_name;
    }
    Put(last_name, 8);
    PadTo(address + kNodeBytes);
    return {address, last_name};
  }

  const absl::Span<const int64_t> offsets_;
  std::string head_;
  // Where the texts of attributes are, and their numbers there.
  int64_t collection_ = 0;
  std::map<const Hdf5Attribute*, size_t> text_numbers_;
  // Places of addresses of elements, from which data_begin() is still missing.
  std::vector<size_t> data_addresses_;
};

// The object at a path; made, with the groups around it, unless it is there.
// "": the root.
Object& ObjectAt(absl::string_view path, Object& root) {
  Object* object = &root;
  if (path.empty()) return root;
  for (const absl::string_view name : absl::StrSplit(path, '/')) {
    CHECK(object->entry == nullptr) << path;
    std::unique_ptr<Object>& inner = object->inner[std::string(name)];
    if (inner == nullptr) inner = std::make_unique<Object>();
    object = inner.get();
  }
  CHECK(object->entry == nullptr) << path;
  return *object;
}

}  // namespace

Hdf5Layout::Hdf5Layout(absl::Span<const Hdf5Entry> entries,
                       absl::Span<const std::string> groups,
                       absl::Span<const Hdf5Attribute> attributes) {
  Object root;
  int64_t end = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Hdf5Entry& entry = entries[i];
    Object& dataset = ObjectAt(entry.path, root);
    CHECK(dataset.inner.empty()) << entry.path;
    dataset.entry = &entry;
    dataset.index = i;
    offsets_.push_back(RoundUpTo8(end));
    end = offsets_.back() + NumElements(entry.shape) * entry.type.size_bytes;
  }
  for (const std::string& group : groups) ObjectAt(group, root);
  for (const Hdf5Attribute& attribute : attributes) {
    ObjectAt(attribute.group, root).attributes.push_back(&attribute);
  }
  head_ = Writer(offsets_).Write(root, end);
  size_bytes_ = data_begin() + end;
}

}  // namespace paceline
