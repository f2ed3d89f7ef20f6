#include "common/tensorflow_checkpoint/leveldb_table.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "tests/unit/tensorflow_checkpoint/table_builder.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

using Entries = std::map<std::string, std::string>;

absl::Status Read(absl::string_view table, Entries* read = nullptr) {
  return ReadLeveldbTable(
      table, [read](absl::string_view key, absl::string_view value) {
        if (read != nullptr) read->emplace(key, value);
        return absl::OkStatus();
      });
}

Entries ManyEntries() {
  Entries entries;
  for (int i = 0; i < 100; ++i) {
    entries[absl::StrFormat("a/key/%03d", i)] = absl::StrCat("value ", i);
  }
  return entries;
}

TEST(LeveldbTableTest, VisitsAllEntriesOfSeveralBlocks) {
  for (const size_t block_size : {64, 100'000}) {
    Entries read;
    const absl::Status status = Read(TableOf(ManyEntries(), block_size), &read);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(read, ManyEntries());
  }
  EXPECT_TRUE(Read(TableOf({})).ok());
}

TEST(LeveldbTableTest, PassesTheVisitorsErrorOn) {
  const absl::Status status = ReadLeveldbTable(
      TableOf(ManyEntries()), [](absl::string_view, absl::string_view) {
        return absl::ResourceExhaustedError("enough");
      });
  EXPECT_EQ(status, absl::ResourceExhaustedError("enough"));
}

TEST(LeveldbTableTest, RefusesWhatIsNoTable) {
  for (const std::string bytes : {"", "no table", "PK"}) {
    const absl::Status status = Read(bytes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  EXPECT_EQ(Read(std::string(1000, 'x')).code(),
            absl::StatusCode::kInvalidArgument);
}

// Or reads the same: the place of other metadata, and their block, are unused.
TEST(LeveldbTableTest, RefusesAnyOtherByte) {
  const Entries entries = {{"", "header"}, {"key", "value"}};
  const std::string table = TableOf(entries);
  int refused = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    std::string damaged = table;
    damaged[i] ^= 0x10;
    Entries read;
    if (!Read(damaged, &read).ok()) {
      ++refused;
    } else {
      EXPECT_EQ(read, entries) << i;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(LeveldbTableTest, RefusesATableThatIsCut) {
  const std::string table = TableOf(ManyEntries(), 64);
  for (size_t size = 0; size < table.size(); ++size) {
    EXPECT_FALSE(Read(absl::string_view(table).substr(0, size)).ok()) << size;
    EXPECT_FALSE(
        Read(absl::string_view(table).substr(table.size() - size)).ok())
        << size;
  }
}

// LevelDB would allocate the size of the block, and its sum with that of the
// trailer overflows.
TEST(LeveldbTableTest, RefusesBlocksThatAreLargerThanTheFile) {
  const std::string table = TableOf({{"key", "value"}});
  for (const uint64_t size :
       {uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 4, uint64_t{1000}}) {
    const std::string footer = std::string("\0\0\0", 3) + Varint(size);
    std::string damaged = table;
    damaged.replace(table.size() - 48, footer.size(), footer);
    const absl::Status status = Read(damaged);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("a block does not lie within the file"));
  }
}

TEST(LeveldbTableTest, RefusesEntriesThatLevelDbWouldReadOutOfBounds) {
  const std::string offsets = kOneOffset;
  const std::string entry("\0\1\1kv", 5);
  std::string data = entry + offsets;
  Entries read;
  absl::Status status = Read(TableOfBlocks(data, IndexOf(data.size())), &read);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(read, (Entries{{"k", "v"}}));

  for (const uint64_t size : {~uint64_t{0}, ~uint64_t{0} - 3, uint64_t{99}}) {
    status = Read(TableOfBlocks(data, IndexOf(size)));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("a block does not lie within the file"));
  }
  // The sizes of the key and the value add up to 1 in 32 bits.
  data = absl::StrCat(Varint(0), Varint(UINT32_MAX), Varint(2), "kv", offsets);
  status = Read(TableOfBlocks(data, IndexOf(data.size())));
  EXPECT_EQ(status.message(), "table: an entry ends early");
  data = absl::StrCat(Varint(0), Varint(1), Varint(UINT32_MAX), "kv", offsets);
  status = Read(TableOfBlocks(data, IndexOf(data.size())));
  EXPECT_EQ(status.message(), "table: an entry ends early");
  // The first entry is not where the block begins.
  data = entry + std::string("\1\0\0\0\1\0\0\0", 8);
  status = Read(TableOfBlocks(data, IndexOf(data.size())));
  EXPECT_EQ(status.message(),
            "table: a block does not begin with its first entry");
  // There are more offsets than bytes.
  data = entry + std::string("\xff\xff\xff\xff", 4);
  status = Read(TableOfBlocks(data, IndexOf(data.size())));
  EXPECT_EQ(status.message(), "table: a block ends early");
  // The key shares more with the one before than that has.
  data = absl::StrCat(Varint(1), Varint(1), Varint(1), "kv", offsets);
  status = Read(TableOfBlocks(data, IndexOf(data.size())));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  // The second key is the first.
  data = absl::StrCat(entry, entry, offsets);
  status = Read(TableOfBlocks(data, IndexOf(data.size())));
  EXPECT_EQ(status.message(), "table: key k follows k, expected a larger one");
}

TEST(LeveldbTableTest, RefusesCompressedBlocks) {
  const std::string table = TableOf({{"key", std::string(2000, 'x')}}, 4096,
                                    leveldb::kSnappyCompression);
  const absl::Status status = Read(table);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
}

}  // namespace
}  // namespace paceline
