#include "common/hdf5/hdf5_blocks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline::hdf5 {
namespace {

// Of an object header's messages, and of a group's names. Those of a group with
// 100,000 objects take some MB.
constexpr uint64_t kMaxBlockBytes = uint64_t{64} << 20;

// Appends the messages of a block that are looked at, and the blocks in which
// they go on. `count`: how many messages the object may still have.
absl::Status TakeMessages(Fields fields, uint64_t& count,
                          std::vector<Message>& messages,
                          std::vector<Extent>& blocks) {
  for (; count > 0 && fields.rest().size() >= kMessageHeaderBytes; --count) {
    const auto type = static_cast<uint16_t>(fields.Take(2));
    const uint64_t size = fields.Take(2);
    const bool is_shared = (fields.Take(1) & 0x02) != 0;
    fields.Skip(3);
    const absl::Span<const std::byte> data = fields.TakeBytes(size);
    if (fields.is_cut()) return Damaged("a message of an object is cut");
    if (type == kContinuation) {
      Fields next(data);
      blocks.push_back({next.Take(8), next.Take(8)});
      if (next.is_cut()) return Damaged("a continuation is cut");
      continue;
    }
    if (is_shared && (type == kDatatype || type == kDataspace)) {
      return NotRead("a datatype or dataspace that is stored elsewhere");
    }
    if (IsLookedAt(type)) {
      messages.push_back({type, Bytes(data.begin(), data.end())});
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool BeginsWith(absl::Span<const std::byte> bytes, absl::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char a, std::byte b) {
                      return static_cast<std::byte>(a) == b;
                    });
}

absl::StatusOr<Bytes> BlockReader::ReadBlock(uint64_t address, uint64_t size,
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

absl::StatusOr<uint64_t> BlockReader::ReadSuperblock() {
  ASSIGN_OR_RETURN(const Bytes start,
                   ReadBlock(0, std::min(size_, uint64_t{kSuperblockBytes}),
                             "the superblock"));
  if (!BeginsWith(start, kSignature)) {
    return absl::InvalidArgumentError(
        "does not begin with \\x89HDF, expected an HDF5 file");
  }
  Fields fields(start);
  fields.Skip(kSignature.size());
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

absl::StatusOr<std::vector<Message>> BlockReader::ReadMessages(
    uint64_t address) {
  ASSIGN_OR_RETURN(const Bytes header,
                   ReadBlock(address, kObjectHeaderBytes, "an object header"));
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
  std::vector<Extent> blocks = {{address + kObjectHeaderBytes, size}};
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSIGN_OR_RETURN(const Bytes block,
                     ReadBlock(blocks[i].offset_bytes, blocks[i].size_bytes,
                               "a part of an object header"));
    RETURN_IF_ERROR(TakeMessages(Fields(block), count, messages, blocks));
  }
  return messages;
}

}  // namespace paceline::hdf5
