#include "coordinator/store/log_store.h"

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "tests/unit/store/store_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr TaskId kWorker = {TaskType::kWorker, 1};
constexpr uint64_t kWholeLog = 1 << 20;

class LogStoreTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    Open(kWholeLog);
  }
  void Open(uint64_t max_log_bytes) {
    auto logs = LogStore::Open(Path("logs"), {.max_log_bytes = max_log_bytes});
    ASSERT_TRUE(logs.ok()) << logs.status();
    logs_ = *std::move(logs);
  }
  uint64_t Append(const std::string& job, uint64_t offset,
                  const std::string& text) {
    const auto size = logs_->Append(job, 1, kWorker, offset, text);
    EXPECT_TRUE(size.ok()) << size.status();
    return size.value_or(0);
  }
  // "text at next".
  std::string Read(int64_t offset, uint64_t max_bytes = kWholeLog) {
    const auto piece = logs_->Read("job-1", 1, kWorker, offset, max_bytes);
    if (!piece.ok()) return absl::StatusCodeToString(piece.status().code());
    return absl::StrCat(piece->text, " at ", piece->next_offset);
  }

  std::unique_ptr<LogStore> logs_;
};

TEST_F(LogStoreTest, PiecesComeInOrder) {
  EXPECT_EQ(Read(0), "NOT_FOUND");
  EXPECT_EQ(Append("job-1", 0, ""), 0);
  EXPECT_EQ(Read(0), " at 0");
  EXPECT_EQ(Append("job-1", 0, "abc"), 3);
  EXPECT_EQ(Append("job-1", 0, "abc"), 3);
  EXPECT_EQ(Append("job-1", 2, "cde"), 3);
  EXPECT_EQ(Append("job-1", 9, "xyz"), 3);
  Open(kWholeLog);
  EXPECT_EQ(Append("job-1", 3, "def"), 6);
  EXPECT_EQ(Read(0), "abcdef at 6");
  EXPECT_TRUE(std::filesystem::exists(Path("logs/job-1/1/worker-1.log")));
}

TEST_F(LogStoreTest, LogsAreOfATaskAndAStart) {
  EXPECT_EQ(Append("job-1", 0, "abc"), 3);
  EXPECT_EQ(*logs_->Append("job-1", 2, kWorker, 0, "z"), 1);
  EXPECT_EQ(*logs_->Append("job-1", 1, {TaskType::kChief, 0}, 0, "zz"), 2);
  EXPECT_EQ(Read(0), "abc at 3");
}

TEST_F(LogStoreTest, IsReadFromAnywhere) {
  Append("job-1", 0, "abcdef");
  EXPECT_EQ(Read(2), "cdef at 6");
  EXPECT_EQ(Read(2, 3), "cde at 5");
  EXPECT_EQ(Read(-2), "ef at 6");
  EXPECT_EQ(Read(-3, 1), "d at 4");
  EXPECT_EQ(Read(-100), "abcdef at 6");
  EXPECT_EQ(Read(INT64_MIN), "abcdef at 6");
  EXPECT_EQ(Read(6), " at 6");
  EXPECT_EQ(Read(100), " at 6");
}

TEST_F(LogStoreTest, ALogHasALimit) {
  Open(5);
  EXPECT_EQ(Append("job-1", 0, "abcde"), 5);
  EXPECT_EQ(Read(0), "abcde at 5");
  EXPECT_EQ(Append("job-1", 5, "fgh"), 8);
  // A daemon goes on to the end of its own log.
  EXPECT_EQ(Append("job-1", 8, "ij"), 10);
  // One that asks where it was goes on behind the limit.
  EXPECT_EQ(Append("job-1", 0, ""), 5);
  const std::string text = Read(0);
  EXPECT_THAT(text, HasSubstr("abcde\n[the log has reached its limit of 5 B;"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("f\n")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("ij")));

  EXPECT_EQ(Append("job-2", 0, "abcdefgh"), 8);
  EXPECT_THAT(logs_->Read("job-2", 1, kWorker, 0, kWholeLog)->text,
              HasSubstr("abcde\n["));
}

TEST_F(LogStoreTest, SomeOfTheDiskIsKeptFree) {
  Append("job-1", 0, "abc");
  logs_ = *LogStore::Open(Path("logs"), {.min_free_bytes = uint64_t{1} << 60});
  const auto full = logs_->Append("job-1", 1, kWorker, 3, "def");
  EXPECT_EQ(full.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.status().message()),
              HasSubstr(Path("logs") + ": its disk has "));
  EXPECT_EQ(Read(0), "abc at 3");
  // What is not written needs no room.
  EXPECT_EQ(Append("job-1", 0, "abc"), 3);
  EXPECT_EQ(Append("job-1", 3, ""), 3);
  Open(2);
  EXPECT_EQ(Append("job-2", 0, "abc"), 3);
  logs_ = *LogStore::Open(
      Path("logs"), {.max_log_bytes = 2, .min_free_bytes = uint64_t{1} << 60});
  EXPECT_EQ(Append("job-2", 3, "def"), 6);
}

TEST_F(LogStoreTest, LogsAreRemoved) {
  for (const char* job : {"job-1", "job-2", "job-3"}) Append(job, 0, "abc");
  EXPECT_TRUE(logs_->Remove("job-1").ok());
  EXPECT_TRUE(logs_->Remove("job-1").ok());
  EXPECT_EQ(Read(0), "NOT_FOUND");
  EXPECT_TRUE(logs_->RemoveAllBut({"job-3", "job-4"}).ok());
  EXPECT_FALSE(std::filesystem::exists(Path("logs/job-2")));
  EXPECT_TRUE(std::filesystem::exists(Path("logs/job-3")));
}

TEST_F(LogStoreTest, KnowsTheSizesOfLogs) {
  Append("job-1", 0, "abc");
  Append("job-1", 3, "def");
  Append("job-1", 0, "ghi");
  EXPECT_EQ(*logs_->Append("job-1", 2, kWorker, 0, "z"), 1);
  Append("job-2", 0, "ab");
  Append("job-3", 0, "");
  const std::map<std::string, uint64_t> bytes = {
      {"job-1", 7}, {"job-2", 2}, {"job-3", 0}};
  EXPECT_EQ(logs_->BytesByJob(), bytes);
  Open(kWholeLog);
  EXPECT_EQ(logs_->BytesByJob(), bytes);
  EXPECT_TRUE(logs_->Remove("job-1").ok());
  EXPECT_TRUE(logs_->RemoveAllBut({"job-3"}).ok());
  EXPECT_THAT(logs_->BytesByJob(), ElementsAre(Pair("job-3", 0)));
}

TEST_F(LogStoreTest, IdsAreSafeNames) {
  for (const std::string& id :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"),
        std::string("../a"), std::string("a\0b", 3), std::string("a b"),
        std::string("é"), std::string(".a"), std::string("-a"),
        std::string(254, 'a')}) {
    EXPECT_EQ(logs_->Append(id, 1, kWorker, 0, "a").status().code(),
              absl::StatusCode::kInvalidArgument)
        << id;
    EXPECT_EQ(logs_->Read(id, 1, kWorker, 0, 1).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(logs_->Remove(id).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(logs_->Append("A.b_c-9", 1, kWorker, 0, "a").ok());
  EXPECT_TRUE(logs_->Append(std::string(253, 'a'), 1, kWorker, 0, "a").ok());
}

}  // namespace
}  // namespace paceline
