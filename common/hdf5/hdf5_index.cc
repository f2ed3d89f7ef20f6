// The structure that is read:
//
//   superblock ──> root: object header ──> symbol table message
//                                              │           │
//                        tree of group nodes <─┘           └─> heap of names
//                                 │                                 │
//                          group node: symbols, each a name and an object
//                          header
//
// A group's object header leads to such a tree, a dataset's has its type, shape
// and the address of its elements.
#include "common/hdf5/hdf5_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/hdf5/hdf5_blocks.h"
#include "common/hdf5/hdf5_messages.h"

namespace paceline {
namespace {

using hdf5::BeginsWith;
using hdf5::Bytes;
using hdf5::CheckMessages;
using hdf5::Damaged;
using hdf5::Extent;
using hdf5::Fields;
using hdf5::FindMessage;
using hdf5::Message;
using hdf5::NotRead;
using hdf5::ParseLayout;
using hdf5::ParseShape;
using hdf5::ParseType;

// Keras nests groups about ten levels deep.
constexpr int kMaxGroupDepth = 64;
// Of a path: Keras' are below 200.
constexpr size_t kMaxPathBytes = 1024;
// A tree of group nodes has a fan-out of 32, so 2^35 nodes.
constexpr int kMaxTreeLevels = 7;

class IndexReader {
 public:
  explicit IndexReader(RandomAccess& file) : blocks_(file) {}

  absl::StatusOr<Hdf5Index> Read() {
    ASSIGN_OR_RETURN(const uint64_t root, blocks_.ReadSuperblock());
    RETURN_IF_ERROR(ReadObject(root, "", 0));
    return std::move(index_);
  }

 private:
  absl::Status ReadObject(uint64_t address, const std::string& path,
                          int depth) {
    absl::Status status = ReadObjectAt(address, path, depth);
    // Names come from the file; errors of inner objects have their path.
    if (status.ok() || names_object_) return status;
    names_object_ = true;
    return path.empty() ? status : Annotate(status, PeerText(path));
  }

  absl::Status ReadObjectAt(uint64_t address, const std::string& path,
                            int depth) {
    ASSIGN_OR_RETURN(const std::vector<Message> messages,
                     blocks_.ReadMessages(address));
    RETURN_IF_ERROR(CheckMessages(messages));
    if (const Message* group = FindMessage(messages, hdf5::kSymbolTable)) {
      if (depth >= kMaxGroupDepth) {
        return absl::ResourceExhaustedError(
            absl::StrCat("is nested deeper than ", kMaxGroupDepth, " groups"));
      }
      Fields fields(group->data);
      const uint64_t tree = fields.Take(8);
      const uint64_t heap = fields.Take(8);
      if (fields.is_cut()) return Damaged("a symbol table is cut");
      ASSIGN_OR_RETURN(const Bytes names, ReadHeap(heap));
      return ReadTree(tree, kMaxTreeLevels, names, path, depth);
    }
    return AddDataset(messages, path);
  }

  // The names of a group's objects; each ends with a NUL.
  absl::StatusOr<Bytes> ReadHeap(uint64_t address) {
    ASSIGN_OR_RETURN(
        const Bytes header,
        blocks_.ReadBlock(address, hdf5::kHeapHeaderBytes, "a heap"));
    if (!BeginsWith(header, "HEAP")) {
      return Damaged(absl::StrCat("there is no heap at ", address));
    }
    Fields fields(header);
    fields.Skip(8);
    const uint64_t size = fields.Take(8);
    fields.Skip(8);
    return blocks_.ReadBlock(fields.Take(8), size, "the names of a heap");
  }

  // Reads a node whose level must be below `levels`, and all below it.
  absl::Status ReadTree(uint64_t address, int levels, const Bytes& names,
                        const std::string& path, int depth) {
    ASSIGN_OR_RETURN(
        const Bytes header,
        blocks_.ReadBlock(address, hdf5::kTreeHeaderBytes, "a node of a tree"));
    if (!BeginsWith(header, "TREE")) {
      return Damaged(absl::StrCat("there is no node of a tree at ", address));
    }
    Fields fields(header);
    fields.Skip(4);
    const uint64_t node_type = fields.Take(1);
    const auto level = static_cast<int>(fields.Take(1));
    const uint64_t count = fields.Take(2);
    if (node_type != 0 || level >= levels) {
      return Damaged(absl::StrCat("a node of a tree has type ", node_type,
                                  " and level ", level));
    }
    // A key before each child, and one behind the last.
    ASSIGN_OR_RETURN(
        const Bytes children,
        blocks_.ReadBlock(address + hdf5::kTreeHeaderBytes, count * 16 + 8,
                          "the children of a node"));
    Fields child(children);
    for (uint64_t i = 0; i < count; ++i) {
      child.Skip(8);
      const uint64_t next = child.Take(8);
      RETURN_IF_ERROR(level > 0 ? ReadTree(next, level, names, path, depth)
                                : ReadGroupNode(next, names, path, depth));
    }
    return absl::OkStatus();
  }

  absl::Status ReadGroupNode(uint64_t address, const Bytes& names,
                             const std::string& path, int depth) {
    ASSIGN_OR_RETURN(const Bytes header,
                     blocks_.ReadBlock(address, hdf5::kGroupNodeHeaderBytes,
                                       "a group node"));
    if (!BeginsWith(header, "SNOD")) {
      return Damaged(absl::StrCat("there is no group node at ", address));
    }
    Fields fields(header);
    fields.Skip(6);
    const uint64_t count = fields.Take(2);
    ASSIGN_OR_RETURN(const Bytes symbols,
                     blocks_.ReadBlock(address + hdf5::kGroupNodeHeaderBytes,
                                       count * hdf5::kSymbolBytes,
                                       "the symbols of a group node"));
    Fields symbol(symbols);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t name_at = symbol.Take(8);
      const uint64_t object = symbol.Take(8);
      const uint64_t cache_type = symbol.Take(4);
      symbol.Skip(20);
      ASSIGN_OR_RETURN(const std::string name, NameAt(names, name_at));
      const std::string inner =
          path.empty() ? name : absl::StrCat(path, "/", name);
      if (inner.size() > kMaxPathBytes) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "has a path of ", inner.size(), " bytes, expected at most ",
            kMaxPathBytes, ": ", PeerText(inner)));
      }
      if (cache_type == 2) {
        return NotRead(absl::StrCat("a soft link ", PeerText(inner)));
      }
      RETURN_IF_ERROR(ReadObject(object, inner, depth + 1));
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<std::string> NameAt(const Bytes& names, uint64_t at) {
    if (at >= names.size()) {
      return Damaged(absl::StrCat("a name at ", at, " of ", names.size()));
    }
    const auto begin = names.begin() + static_cast<int64_t>(at);
    const auto end = std::find(begin, names.end(), std::byte{0});
    if (end == names.end()) return Damaged("a name without an end");
    std::string name(reinterpret_cast<const char*>(&*begin), end - begin);
    if (name.empty() || name.find('/') != std::string::npos) {
      return Damaged(
          absl::StrCat("an object has the name \"", PeerText(name), "\""));
    }
    return name;
  }

  absl::Status AddDataset(absl::Span<const Message> messages,
                          const std::string& path) {
    const Message* const type = FindMessage(messages, hdf5::kDatatype);
    const Message* const space = FindMessage(messages, hdf5::kDataspace);
    const Message* const layout = FindMessage(messages, hdf5::kDataLayout);
    if (type == nullptr || space == nullptr || layout == nullptr) {
      return Damaged("an object is neither a group nor a dataset");
    }
    Hdf5Dataset dataset;
    dataset.type = ParseType(Fields(type->data));
    ASSIGN_OR_RETURN(dataset.shape, ParseShape(Fields(space->data)));
    ASSIGN_OR_RETURN(const Extent extent, ParseLayout(Fields(layout->data)));
    if (extent.offset_bytes == hdf5::kUndefined) {
      return Damaged("the dataset has no elements: nobody wrote them");
    }
    const auto expected =
        static_cast<unsigned __int128>(NumElements(dataset.shape)) *
        static_cast<unsigned __int128>(dataset.type.size_bytes);
    if (expected != extent.size_bytes ||
        extent.size_bytes > blocks_.size_bytes() ||
        extent.offset_bytes > blocks_.size_bytes() - extent.size_bytes) {
      return Damaged(
          absl::StrCat("the elements of shape ", ShapeToString(dataset.shape),
                       " are in ", extent.size_bytes, " bytes at ",
                       extent.offset_bytes, " of ", blocks_.size_bytes()));
    }
    dataset.offset_bytes = static_cast<int64_t>(extent.offset_bytes);
    if (!index_.emplace(path, std::move(dataset)).second) {
      return Damaged("two objects have this name");
    }
    return absl::OkStatus();
  }

  hdf5::BlockReader blocks_;
  // Whether the error has the path of an object already.
  bool names_object_ = false;
  Hdf5Index index_;
};

}  // namespace

absl::StatusOr<Hdf5Index> ReadHdf5Index(RandomAccess& file) {
  return IndexReader(file).Read();
}

}  // namespace paceline
