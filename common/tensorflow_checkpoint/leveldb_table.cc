// The structure that is checked here, before LevelDB reads it:
//
//   data blocks | … | index block | footer
//        ^                │  ^         │
//        └────────────────┘  └─────────┘
//
// A block has entries, keys with values, and is followed by its type, a byte,
// and its checksum.
#include "common/tensorflow_checkpoint/leveldb_table.h"

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"

namespace paceline {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr absl::string_view kMagic("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
constexpr size_t kFooterBytes = 48;
// Type and checksum.
constexpr size_t kTrailerBytes = 5;

absl::Status DamagedTable(absl::string_view reason) {
  return absl::DataLossError(absl::StrCat("table: ", reason));
}

CodedInputStream StreamOf(absl::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
}

struct Block {
  uint64_t offset = 0;
  uint64_t size = 0;

  uint64_t end() const { return offset + size; }
};

// The block's place; checks that it lies within the table.
absl::StatusOr<Block> ReadPlace(absl::string_view table,
                                CodedInputStream& stream) {
  Block block;
  if (!stream.ReadVarint64(&block.offset) ||
      !stream.ReadVarint64(&block.size) || block.offset > table.size() ||
      block.size > table.size() - block.offset ||
      table.size() - block.end() < kFooterBytes + kTrailerBytes) {
    return DamagedTable("a block does not lie within the file");
  }
  if (table[block.end()] != 0) {
    return absl::UnimplementedError(
        "table: a block is compressed, expected one as TensorFlow writes it");
  }
  return block;
}

uint32_t NumberAt(absl::string_view bytes, size_t offset) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

// The entries of a block, without what is behind them: the offsets of some, and
// the number of these. LevelDB begins at the first of the offsets.
absl::StatusOr<absl::string_view> EntriesOf(absl::string_view block) {
  constexpr size_t kNumberBytes = sizeof(uint32_t);
  if (block.size() < kNumberBytes) return DamagedTable("a block ends early");
  const size_t offsets = NumberAt(block, block.size() - kNumberBytes);
  const size_t behind = (offsets + 1) * kNumberBytes;
  if (behind > block.size()) return DamagedTable("a block ends early");
  const absl::string_view entries = block.substr(0, block.size() - behind);
  if (offsets > 0 && NumberAt(block, entries.size()) != 0) {
    return DamagedTable("a block does not begin with its first entry");
  }
  return entries;
}

// The values of a block. An entry has: the bytes that its key shares with that
// before, the size of the rest, the size of the value; the rest; the value.
absl::StatusOr<std::vector<absl::string_view>> ReadValues(
    absl::string_view block) {
  ASSIGN_OR_RETURN(const absl::string_view entries, EntriesOf(block));
  CodedInputStream stream = StreamOf(entries);
  std::vector<absl::string_view> values;
  while (stream.CurrentPosition() < static_cast<int>(entries.size())) {
    uint32_t shared = 0;
    uint32_t rest = 0;
    uint32_t size = 0;
    if (!stream.ReadVarint32(&shared) || !stream.ReadVarint32(&rest) ||
        !stream.ReadVarint32(&size) || rest > entries.size() ||
        size > entries.size() || !stream.Skip(static_cast<int>(rest))) {
      return DamagedTable("an entry ends early");
    }
    values.push_back(entries.substr(stream.CurrentPosition(), size));
    if (!stream.Skip(static_cast<int>(size))) {
      return DamagedTable("an entry ends early");
    }
  }
  return values;
}

// The values of the index are the places of data blocks.
absl::Status CheckBlocks(absl::string_view table) {
  if (table.size() < kFooterBytes ||
      table.substr(table.size() - kMagic.size()) != kMagic) {
    return absl::InvalidArgumentError(
        "is no table of LevelDB, expected the index of a checkpoint of "
        "TensorFlow");
  }
  CodedInputStream footer = StreamOf(table.substr(table.size() - kFooterBytes));
  // The place of other metadata, which is not read.
  uint64_t unused = 0;
  if (!footer.ReadVarint64(&unused) || !footer.ReadVarint64(&unused)) {
    return DamagedTable("its footer ends early");
  }
  ASSIGN_OR_RETURN(const Block index, ReadPlace(table, footer));
  ASSIGN_OR_RETURN(const std::vector<absl::string_view> places,
                   ReadValues(table.substr(index.offset, index.size)));
  uint64_t end = 0;
  for (const absl::string_view place : places) {
    CodedInputStream stream = StreamOf(place);
    ASSIGN_OR_RETURN(const Block block, ReadPlace(table, stream));
    // Else a small file may be much work.
    if (block.offset < end) return DamagedTable("blocks overlap");
    end = block.end();
    RETURN_IF_ERROR(
        ReadValues(table.substr(block.offset, block.size)).status());
  }
  return absl::OkStatus();
}

class MemoryFile final : public leveldb::RandomAccessFile {
 public:
  explicit MemoryFile(absl::string_view bytes) : bytes_(bytes) {}

  leveldb::Status Read(uint64_t offset, size_t count, leveldb::Slice* result,
                       char* /*scratch*/) const override {
    if (offset > bytes_.size() || count > bytes_.size() - offset) {
      return leveldb::Status::Corruption("ends early");
    }
    *result = leveldb::Slice(bytes_.data() + offset, count);
    return leveldb::Status::OK();
  }

 private:
  const absl::string_view bytes_;
};

absl::Status ErrorOf(const leveldb::Status& status) {
  return status.ok() ? absl::OkStatus()
                     : DamagedTable(PeerText(status.ToString()));
}

absl::string_view ViewOf(const leveldb::Slice& slice) {
  return {slice.data(), slice.size()};
}

}  // namespace

absl::Status ReadLeveldbTable(
    absl::string_view table,
    absl::FunctionRef<absl::Status(absl::string_view key,
                                   absl::string_view value)>
        visit) {
  RETURN_IF_ERROR(CheckBlocks(table));
  MemoryFile file(table);
  leveldb::Options options;
  options.paranoid_checks = true;
  leveldb::Table* opened = nullptr;
  RETURN_IF_ERROR(
      ErrorOf(leveldb::Table::Open(options, &file, table.size(), &opened)));
  const std::unique_ptr<leveldb::Table> owned(opened);
  leveldb::ReadOptions read_options;
  read_options.verify_checksums = true;
  const std::unique_ptr<leveldb::Iterator> each(
      owned->NewIterator(read_options));
  std::optional<std::string> last;
  for (each->SeekToFirst(); each->Valid(); each->Next()) {
    const absl::string_view key = ViewOf(each->key());
    if (last && key <= *last) {
      return DamagedTable(absl::StrCat("key ", PeerText(key), " follows ",
                                       PeerText(*last),
                                       ", expected a larger one"));
    }
    RETURN_IF_ERROR(visit(key, ViewOf(each->value())));
    last = std::string(key);
  }
  return ErrorOf(each->status());
}

}  // namespace paceline
