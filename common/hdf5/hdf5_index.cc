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

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/hdf5/hdf5_messages.h"

namespace paceline {
namespace {

using hdf5::Bytes;
using hdf5::CheckMessages;
using hdf5::Damaged;
using hdf5::Extent;
using hdf5::Fields;
using hdf5::FindMessage;
using hdf5::IsLookedAt;
using hdf5::Message;
using hdf5::NotRead;
using hdf5::ParseLayout;
using hdf5::ParseShape;
using hdf5::ParseType;

// Keras nests groups about ten levels deep.
constexpr int kMaxGroupDepth = 64;
// Of an object header's messages, and of a group's names. Those of a group with
// 100,000 objects take some MB.
constexpr uint64_t kMaxBlockBytes = uint64_t{64} << 20;
// Of a path: Keras' are below 200.
constexpr size_t kMaxPathBytes = 1024;
// A tree of group nodes has a fan-out of 32, so 2^35 nodes.
constexpr int kMaxTreeLevels = 7;

bool BeginsWith(absl::Span<const std::byte> bytes, absl::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char a, std::byte b) {
                      return static_cast<std::byte>(a) == b;
                    });
}

class IndexReader {
 public:
  explicit IndexReader(RandomAccess& file)
      : file_(file), size_(static_cast<uint64_t>(file.size_bytes())) {}

  absl::StatusOr<Hdf5Index> Read() {
    ASSIGN_OR_RETURN(const uint64_t root, ReadSuperblock());
    RETURN_IF_ERROR(ReadObject(root, "", 0));
    return std::move(index_);
  }

 private:
  // The block [address, address + size), which nothing else may have read.
  absl::StatusOr<Bytes> ReadBlock(uint64_t address, uint64_t size,
                                  absl::string_view what) {
    if (size > size_ || address > size_ - size) {
      return Damaged(absl::StrCat(what, " at ", address, " with ", size,
                                  " bytes is beyond the end, ", size_));
    }
    if (size > kMaxBlockBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          what, " has ", size, " bytes, expected at most ", kMaxBlockBytes));
    }
    // Blocks of a sound file do not overlap, so no two begin at the same place,
    // and together they are no larger than the file.
    read_bytes_ += size;
    if ((size > 0 && !read_.insert(address).second) || read_bytes_ > size_) {
      return Damaged(absl::StrCat(what, " at ", address,
                                  " is part of another structure, or all "
                                  "together are larger than the file"));
    }
    Bytes bytes(size);
    RETURN_IF_ERROR(
        file_.ReadAt(static_cast<int64_t>(address), absl::MakeSpan(bytes)));
    return bytes;
  }

  // The address of the root's object header.
  absl::StatusOr<uint64_t> ReadSuperblock() {
    ASSIGN_OR_RETURN(
        const Bytes start,
        ReadBlock(0, std::min(size_, uint64_t{hdf5::kSuperblockBytes}),
                  "the superblock"));
    if (!BeginsWith(start, hdf5::kSignature)) {
      return absl::InvalidArgumentError(
          "does not begin with \\x89HDF, expected an HDF5 file");
    }
    Fields fields(start);
    fields.Skip(hdf5::kSignature.size());
    const uint64_t version = fields.Take(1);
    if (version > 1) {
      return NotRead(absl::StrCat("a superblock of version ", version,
                                  " (libver=\"latest\")"));
    }
    fields.Skip(4);
    const uint64_t offset_size = fields.Take(1);
    const uint64_t length_size = fields.Take(1);
    if (offset_size != 8 || length_size != 8) {
      return NotRead(absl::StrCat("addresses of ", offset_size, " bytes"));
    }
    // The sizes of nodes, which nodes state themselves, and flags.
    fields.Skip(version == 0 ? 9 : 13);
    const uint64_t base = fields.Take(8);
    fields.Skip(8);
    const uint64_t end = fields.Take(8);
    fields.Skip(16);
    const uint64_t root = fields.Take(8);
    if (fields.is_cut()) return Damaged("the superblock is cut");
    if (base != 0) return NotRead("a user block");
    if (end > size_) {
      return Damaged(absl::StrCat("the file is cut: it has ", size_,
                                  " bytes, its superblock says ", end));
    }
    return root;
  }

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
                     ReadMessages(address));
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

  absl::StatusOr<std::vector<Message>> ReadMessages(uint64_t address) {
    ASSIGN_OR_RETURN(
        const Bytes header,
        ReadBlock(address, hdf5::kObjectHeaderBytes, "an object header"));
    if (BeginsWith(header, "OHDR")) {
      return NotRead("objects of a newer format (libver=\"latest\")");
    }
    Fields fields(header);
    const uint64_t version = fields.Take(1);
    if (version != 1) {
      return Damaged(absl::StrCat("an object header of version ", version));
    }
    fields.Skip(1);
    uint64_t count = fields.Take(2);
    fields.Skip(4);
    const uint64_t size = fields.Take(4);
    std::vector<Message> messages;
    std::vector<Extent> blocks = {{address + hdf5::kObjectHeaderBytes, size}};
    for (size_t i = 0; i < blocks.size(); ++i) {
      ASSIGN_OR_RETURN(const Bytes block,
                       ReadBlock(blocks[i].offset_bytes, blocks[i].size_bytes,
                                 "a part of an object header"));
      RETURN_IF_ERROR(TakeMessages(Fields(block), count, messages, blocks));
    }
    return messages;
  }

  // Appends the messages of a block that are looked at, and the blocks in which
  // they go on. `count`: how many messages the object may still have.
  static absl::Status TakeMessages(Fields fields, uint64_t& count,
                                   std::vector<Message>& messages,
                                   std::vector<Extent>& blocks) {
    for (; count > 0 && fields.rest().size() >= hdf5::kMessageHeaderBytes;
         --count) {
      const auto type = static_cast<uint16_t>(fields.Take(2));
      const uint64_t size = fields.Take(2);
      const bool is_shared = (fields.Take(1) & 0x02) != 0;
      fields.Skip(3);
      const absl::Span<const std::byte> data = fields.TakeBytes(size);
      if (fields.is_cut()) return Damaged("a message of an object is cut");
      if (type == hdf5::kContinuation) {
        Fields next(data);
        blocks.push_back({next.Take(8), next.Take(8)});
        if (next.is_cut()) return Damaged("a continuation is cut");
        continue;
      }
      if (is_shared && (type == hdf5::kDatatype || type == hdf5::kDataspace)) {
        return NotRead("a datatype or dataspace that is stored elsewhere");
      }
      if (IsLookedAt(type)) {
        messages.push_back({type, Bytes(data.begin(), data.end())});
      }
    }
    return absl::OkStatus();
  }

  // The names of a group's objects; each ends with a NUL.
  absl::StatusOr<Bytes> ReadHeap(uint64_t address) {
    ASSIGN_OR_RETURN(const Bytes header,
                     ReadBlock(address, hdf5::kHeapHeaderBytes, "a heap"));
    if (!BeginsWith(header, "HEAP")) {
      return Damaged(absl::StrCat("there is no heap at ", address));
    }
    Fields fields(header);
    fields.Skip(8);
    const uint64_t size = fields.Take(8);
    fields.Skip(8);
    return ReadBlock(fields.Take(8), size, "the names of a heap");
  }

  // Reads a node whose level must be below `levels`, and all below it.
  absl::Status ReadTree(uint64_t address, int levels, const Bytes& names,
                        const std::string& path, int depth) {
    ASSIGN_OR_RETURN(
        const Bytes header,
        ReadBlock(address, hdf5::kTreeHeaderBytes, "a node of a tree"));
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
    ASSIGN_OR_RETURN(const Bytes children,
                     ReadBlock(address + hdf5::kTreeHeaderBytes, count * 16 + 8,
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
    ASSIGN_OR_RETURN(
        const Bytes header,
        ReadBlock(address, hdf5::kGroupNodeHeaderBytes, "a group node"));
    if (!BeginsWith(header, "SNOD")) {
      return Damaged(absl::StrCat("there is no group node at ", address));
    }
    Fields fields(header);
    fields.Skip(6);
    const uint64_t count = fields.Take(2);
    ASSIGN_OR_RETURN(
        const Bytes symbols,
        ReadBlock(address + hdf5::kGroupNodeHeaderBytes,
                  count * hdf5::kSymbolBytes, "the symbols of a group node"));
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
    if (expected != extent.size_bytes || extent.size_bytes > size_ ||
        extent.offset_bytes > size_ - extent.size_bytes) {
      return Damaged(absl::StrCat(
          "the elements of shape ", ShapeToString(dataset.shape), " are in ",
          extent.size_bytes, " bytes at ", extent.offset_bytes, " of ", size_));
    }
    dataset.offset_bytes = static_cast<int64_t>(extent.offset_bytes);
    if (!index_.emplace(path, std::move(dataset)).second) {
      return Damaged("two objects have this name");
    }
    return absl::OkStatus();
  }

  RandomAccess& file_;
  const uint64_t size_;
  // Addresses of the blocks that have been read, and their bytes together.
  absl::flat_hash_set<uint64_t> read_;
  uint64_t read_bytes_ = 0;
  // Whether the error has the path of an object already.
  bool names_object_ = false;
  Hdf5Index index_;
};

}  // namespace

absl::StatusOr<Hdf5Index> ReadHdf5Index(RandomAccess& file) {
  return IndexReader(file).Read();
}

}  // namespace paceline
