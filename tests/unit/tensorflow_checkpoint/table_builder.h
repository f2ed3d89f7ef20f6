// Makes tables of LevelDB.
#ifndef PACELINE_TESTS_UNIT_TENSORFLOW_CHECKPOINT_TABLE_BUILDER_H_
#define PACELINE_TESTS_UNIT_TENSORFLOW_CHECKPOINT_TABLE_BUILDER_H_

#include <leveldb/env.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/crc32c.h"
#include "glog/logging.h"

namespace paceline {

class MemoryTable final : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    bytes.append(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }

  std::string bytes;
};

// Of blocks of about `block_size` bytes, as TensorFlow writes it unless it is
// compressed.
inline std::string TableOf(
    const std::map<std::string, std::string>& entries, size_t block_size = 4096,
    leveldb::CompressionType compression = leveldb::kNoCompression) {
  leveldb::Options options;
  options.block_size = block_size;
  options.compression = compression;
  MemoryTable table;
  leveldb::TableBuilder builder(options, &table);
  for (const auto& [key, value] : entries) builder.Add(key, value);
  CHECK(builder.Finish().ok());
  return table.bytes;
}

inline std::string Varint(uint64_t number) {
  std::string bytes;
  for (; number > 0x7f; number >>= 7) {
    bytes.push_back(static_cast<char>(0x80 | (number & 0x7f)));
  }
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

// What is behind the entries of a block: the first of them is at 0.
inline const std::string kOneOffset("\0\0\0\0\1\0\0\0", 8);

// The index block of a table of one data block at its start.
inline std::string IndexOf(uint64_t data_size) {
  const std::string place = Varint(0) + Varint(data_size);
  return absl::StrCat(Varint(0), Varint(1), Varint(place.size()), "z", place,
                      kOneOffset);
}

// A table of these blocks, with right checksums.
inline std::string TableOfBlocks(absl::string_view data,
                                 absl::string_view index) {
  std::string table;
  const auto add = [&table](absl::string_view block) {
    const std::string bytes = absl::StrCat(block, std::string(1, '\0'));
    const uint32_t crc = MaskCrc32c(ExtendCrc32c(
        0, {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}));
    absl::StrAppend(
        &table, bytes,
        absl::string_view(reinterpret_cast<const char*>(&crc), sizeof(crc)));
  };
  add(data);
  std::string footer = absl::StrCat(Varint(0), Varint(0), Varint(table.size()),
                                    Varint(index.size()));
  footer.resize(40);
  add(index);
  return absl::StrCat(table, footer, "\x57\xfb\x80\x8b\x24\x75\x47\xdb");
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_TENSORFLOW_CHECKPOINT_TABLE_BUILDER_H_
