#include "coordinator/store/file_store.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/identity/sha256.h"
#include "gmock/gmock.h"
#include "tests/unit/store/store_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kAll = 1 << 20;
const absl::Duration kHour = absl::Hours(1);

class FileStoreTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    Open({});
  }
  void Open(const FileStoreOptions& options) {
    files_.reset();
    auto files = FileStore::Open(Path("store"), options);
    ASSERT_TRUE(files.ok()) << files.status();
    files_ = *std::move(files);
  }
  // "4 bytes", "4 bytes, complete", or the error's code.
  static std::string Text(const absl::StatusOr<v1::FileProgress>& progress) {
    if (!progress.ok()) return StatusCodeToString(progress.status().code());
    return absl::StrCat(progress->received_bytes(), " bytes",
                        progress->is_complete() ? ", complete" : "");
  }
  std::string Find(const std::string& sha256) {
    return Text(files_->Find(sha256));
  }
  std::string Append(const std::string& sha256, uint64_t size, uint64_t offset,
                     absl::string_view bytes) {
    return Text(files_->Append(sha256, size, offset, bytes));
  }
  std::string Put(const std::string& content) {
    Append(Sha256Hex(content), content.size(), 0, content);
    return Sha256Hex(content);
  }
  std::string Read(const std::string& sha256, uint64_t offset = 0,
                   uint64_t max_bytes = kAll) {
    const auto bytes = files_->Read(sha256, offset, max_bytes);
    return bytes.ok() ? *bytes : StatusCodeToString(bytes.status().code());
  }
  std::string WholePath(const std::string& sha256) const {
    return Path("store/files/" + sha256.substr(0, 2) + "/" + sha256);
  }
  std::string PartialPath(const std::string& sha256) const {
    return Path("store/partial/" + sha256);
  }
  static void MakeOld(const std::string& path) {
    std::filesystem::last_write_time(
        path,
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  }

  const std::string sha256_ = Sha256Hex("abcdef");
  std::unique_ptr<FileStore> files_;
};

TEST_F(FileStoreTest, AFileComesInPieces) {
  EXPECT_EQ(Find(sha256_), "0 bytes");
  EXPECT_EQ(Append(sha256_, 6, 0, "ab"), "2 bytes");
  EXPECT_EQ(Read(sha256_), "NOT_FOUND");
  EXPECT_EQ(Append(sha256_, 6, 2, "cd"), "4 bytes");
  EXPECT_EQ(Find(sha256_), "4 bytes");
  EXPECT_EQ(Append(sha256_, 6, 4, "ef"), "6 bytes, complete");
  EXPECT_EQ(Find(sha256_), "6 bytes, complete");
  EXPECT_EQ(Read(sha256_), "abcdef");
  EXPECT_EQ(Read(sha256_, 2, 3), "cde");
  EXPECT_EQ(Read(sha256_, 6), "");
  EXPECT_EQ(Read(sha256_, 7), "OUT_OF_RANGE");
  EXPECT_TRUE(std::filesystem::exists(WholePath(sha256_)));
  EXPECT_FALSE(std::filesystem::exists(PartialPath(sha256_)));

  const std::string empty = Sha256Hex("");
  EXPECT_EQ(Append(empty, 0, 0, ""), "0 bytes, complete");
  EXPECT_EQ(Find(empty), "0 bytes, complete");
}

TEST_F(FileStoreTest, PiecesComeInOrder) {
  EXPECT_EQ(Append(sha256_, 6, 2, "cd"), "OUT_OF_RANGE");
  EXPECT_EQ(Find(sha256_), "0 bytes");
  EXPECT_EQ(Append(sha256_, 6, 0, "abc"), "3 bytes");
  // Pieces that come again.
  EXPECT_EQ(Append(sha256_, 6, 0, "abc"), "3 bytes");
  EXPECT_EQ(Append(sha256_, 6, 2, "cd"), "3 bytes");
  const absl::Status gap = files_->Append(sha256_, 6, 4, "ef").status();
  EXPECT_EQ(gap.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(gap.message()),
              AllOf(HasSubstr("at 4"), HasSubstr("at 3")));
  EXPECT_EQ(Append(sha256_, 6, 3, "def"), "6 bytes, complete");
  EXPECT_EQ(Append(sha256_, 6, 0, "abc"), "6 bytes, complete");
  EXPECT_EQ(Append(sha256_, 7, 0, "abc"), "INVALID_ARGUMENT");
  EXPECT_EQ(Append(sha256_, 6, 7, ""), "INVALID_ARGUMENT");
  EXPECT_EQ(Append(sha256_, 6, 5, "fg"), "INVALID_ARGUMENT");
}

TEST_F(FileStoreTest, GoesOnAfterARestart) {
  const std::string content(3 << 20, 'x');
  const std::string sha256 = Sha256Hex(content);
  const absl::string_view view = content;
  Append(sha256, content.size(), 0, view.substr(0, 2 << 20));
  Put("other");
  const uint64_t used = files_->used_bytes();
  Open({});
  EXPECT_EQ(files_->used_bytes(), used);
  EXPECT_EQ(Find(sha256), "2097152 bytes");
  EXPECT_EQ(Append(sha256, content.size(), 2 << 20, view.substr(2 << 20)),
            "3145728 bytes, complete");
  Open({});
  EXPECT_EQ(Find(sha256), "3145728 bytes, complete");
  EXPECT_EQ(Read(sha256, 3 << 20, 1), "");
}

TEST_F(FileStoreTest, ABeginningWithAllBytesIsCompleted) {
  std::ofstream(PartialPath(sha256_)) << "abcdef";
  Open({});
  EXPECT_EQ(Find(sha256_), "6 bytes");
  EXPECT_EQ(Append(sha256_, 6, 6, ""), "6 bytes, complete");
  EXPECT_EQ(Read(sha256_), "abcdef");
}

TEST_F(FileStoreTest, OtherContentBeginsAnew) {
  EXPECT_EQ(Append(sha256_, 6, 0, "abc"), "3 bytes");
  const absl::Status wrong = files_->Append(sha256_, 6, 3, "deX").status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(wrong.message()),
              AllOf(HasSubstr(sha256_), HasSubstr(Sha256Hex("abcdeX"))));
  EXPECT_EQ(Find(sha256_), "0 bytes");
  EXPECT_EQ(files_->used_bytes(), 0);

  // A beginning that is longer than the file.
  EXPECT_EQ(Append(sha256_, 10, 0, "1234567"), "7 bytes");
  EXPECT_EQ(Append(sha256_, 6, 0, "abcdef"), "DATA_LOSS");
  EXPECT_EQ(Append(sha256_, 6, 0, "abcdef"), "6 bytes, complete");

  // A beginning that was damaged on the disk.
  const std::string other = Sha256Hex("123456");
  Append(other, 6, 0, "123");
  std::ofstream(PartialPath(other)) << "12x";
  Open({});
  EXPECT_EQ(Append(other, 6, 3, "456"), "DATA_LOSS");
}

TEST_F(FileStoreTest, HashesAreChecked) {
  for (const std::string& wrong :
       {std::string(), std::string("../../etc/passwd"), std::string(64, 'A'),
        std::string(63, 'a'), "../" + std::string(61, 'a')}) {
    EXPECT_EQ(Find(wrong), "INVALID_ARGUMENT");
    EXPECT_EQ(Append(wrong, 1, 0, "a"), "INVALID_ARGUMENT");
    EXPECT_EQ(Read(wrong), "INVALID_ARGUMENT");
  }
}

TEST_F(FileStoreTest, ThereAreLimits) {
  Open({.max_file_bytes = 6, .max_bytes = 3 * 4096});
  const absl::Status large = files_->Append(sha256_, 7, 0, "a").status();
  EXPECT_EQ(large.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(large.message()),
              HasSubstr("7 bytes; a file may have 6"));

  Put("one");
  Put("two");
  EXPECT_EQ(Append(sha256_, 6, 0, "abc"), "3 bytes");
  EXPECT_EQ(files_->used_bytes(), 3 * 4096);
  const std::string four = Sha256Hex("four");
  const absl::Status full = files_->Append(four, 4, 0, "f").status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()),
              HasSubstr("would have 16384; together they may have 12288"));
  EXPECT_EQ(Append(Sha256Hex(""), 0, 0, ""), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(Append(sha256_, 6, 3, "def"), "6 bytes, complete");

  EXPECT_EQ(*files_->Sweep({sha256_}, absl::ZeroDuration()), 2);
  EXPECT_EQ(files_->used_bytes(), 4096);
  EXPECT_EQ(Append(four, 4, 0, "f"), "1 bytes");
}

TEST_F(FileStoreTest, SomeOfTheDiskIsKeptFree) {
  Open({.min_free_bytes = uint64_t{1} << 60});
  const absl::Status full = files_->Append(sha256_, 6, 0, "abc").status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()),
              AllOf(HasSubstr(Path("store") + ": its disk has "),
                    HasSubstr("1 EiB are kept"), HasSubstr("--min-free")));
  EXPECT_EQ(Find(sha256_), "0 bytes");
  EXPECT_EQ(files_->used_bytes(), 0);

  Open({.min_free_bytes = 1});
  const std::string large = Sha256Hex("large");
  EXPECT_EQ(Append(large, 6, 0, "l"), "1 bytes");
  EXPECT_EQ(Put("abcdef"), sha256_);
  // What is there can be read, and is taken again.
  Open({.min_free_bytes = uint64_t{1} << 60});
  EXPECT_EQ(Append(sha256_, 6, 0, "abc"), "6 bytes, complete");
  EXPECT_EQ(Read(sha256_), "abcdef");
}

TEST_F(FileStoreTest, OldFilesThatNobodyNeedsAreSwept) {
  const std::string needed = Put("needed");
  const std::string fresh = Put("fresh");
  const std::string old = Put("old");
  const std::string found = Put("found");
  const std::string begun = Sha256Hex("begun");
  Append(begun, 5, 0, "be");
  Append(sha256_, 6, 0, "abc");
  for (const std::string& path : {WholePath(needed), WholePath(old),
                                  WholePath(found), PartialPath(begun)}) {
    MakeOld(path);
  }
  EXPECT_EQ(Find(found), "5 bytes, complete");
  std::ofstream(Path("store/files/README")) << "not ours";
  MakeOld(Path("store/files/README"));

  EXPECT_EQ(*files_->Sweep({needed, Sha256Hex("unknown")}, kHour), 2);
  EXPECT_EQ(Find(needed), "6 bytes, complete");
  EXPECT_EQ(Find(fresh), "5 bytes, complete");
  EXPECT_EQ(Find(found), "5 bytes, complete");
  EXPECT_EQ(Find(old), "0 bytes");
  EXPECT_EQ(Find(begun), "0 bytes");
  EXPECT_EQ(Find(sha256_), "3 bytes");
  EXPECT_EQ(Append(sha256_, 6, 3, "def"), "6 bytes, complete");
  EXPECT_TRUE(std::filesystem::exists(Path("store/files/README")));
  EXPECT_EQ(*files_->Sweep({}, kHour), 0);
  EXPECT_EQ(files_->used_bytes(), 4 * 4096);
}

TEST_F(FileStoreTest, ReadingFromTheBeginningKeepsAFile) {
  Put("abcdef");
  MakeOld(WholePath(sha256_));
  EXPECT_EQ(Read(sha256_), "abcdef");
  EXPECT_EQ(*files_->Sweep({}, kHour), 0);
  MakeOld(WholePath(sha256_));
  EXPECT_EQ(Read(sha256_, 3), "def");
  EXPECT_EQ(*files_->Sweep({}, kHour), 1);
}

TEST_F(FileStoreTest, BeginningsThatWaitForRoomAreSwept) {
  Append(sha256_, 6, 0, "abc");
  const std::string other = Sha256Hex("other");
  Append(other, 5, 0, "ot");
  MakeOld(PartialPath(sha256_));
  MakeOld(PartialPath(other));
  Open({.min_free_bytes = uint64_t{1} << 60});
  EXPECT_EQ(Find(sha256_), "3 bytes");
  EXPECT_EQ(Append(sha256_, 6, 3, "def"), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(*files_->Sweep({}, kHour), 2);

  Open({});
  Append(sha256_, 6, 0, "abc");
  MakeOld(PartialPath(sha256_));
  EXPECT_EQ(Append(sha256_, 6, 3, "d"), "4 bytes");
  EXPECT_EQ(*files_->Sweep({}, kHour), 0);
}

TEST_F(FileStoreTest, ManyWriteAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string content = absl::StrCat("content of ", i / 2);
      const std::string sha256 = Sha256Hex(content);
      for (size_t offset = 0; offset < content.size(); ++offset) {
        std::string added;
        do {
          added = Append(sha256, content.size(), offset,
                         absl::string_view(content).substr(offset, 1));
        } while (added == "UNAVAILABLE");
        EXPECT_THAT(added, HasSubstr("bytes"));
        EXPECT_EQ(*files_->Sweep({}, kHour), 0);
      }
      EXPECT_EQ(Read(sha256), content);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files_->used_bytes(), 2 * 4096);
}

// A pipe in place of a file's beginning keeps a call at it.
TEST_F(FileStoreTest, AFileThatTakesLongHoldsUpNoOther) {
  const std::string slow = Sha256Hex("slow");
  ASSERT_EQ(mkfifo(PartialPath(slow).c_str(), 0600), 0);
  std::thread writer([&] { Append(slow, 4, 0, "sl"); });
  // The call has the file once it is counted.
  while (files_->used_bytes() == 0) std::this_thread::yield();
  EXPECT_EQ(Put("abcdef"), sha256_);
  EXPECT_EQ(Read(sha256_), "abcdef");
  EXPECT_EQ(Find(slow), "0 bytes");
  EXPECT_EQ(*files_->Sweep({}, absl::ZeroDuration()), 1);
  EXPECT_EQ(Append(slow, 4, 0, "sl"), "UNAVAILABLE");

  std::ifstream reader(PartialPath(slow));
  writer.join();
  EXPECT_EQ(files_->used_bytes(), 0);
  EXPECT_EQ(Append(slow, 4, 0, "sl"), "2 bytes");
}

}  // namespace
}  // namespace paceline
