#include "coordinator/store/database.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "tests/unit/store/store_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kId = 77;
constexpr const char* kOne[] = {"CREATE TABLE words (word TEXT)"};
constexpr const char* kTwo[] = {
    kOne[0], "ALTER TABLE words ADD COLUMN count INTEGER DEFAULT 5"};
constexpr const char* kWrong[] = {
    kOne[0], "ALTER TABLE words ADD COLUMN count INTEGER; CREATE nonsense"};

class DatabaseTest : public StoreTest {
 protected:
  absl::StatusOr<std::unique_ptr<Database>> Open(
      absl::Span<const char* const> migrations, int64_t id = kId) const {
    return Database::Open(path(), {id, migrations});
  }
  std::string path() const { return Path("database"); }

  // Of version 1, with a word, closed.
  void Create() const {
    const auto database = Open(kOne);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE((*database)->Execute("INSERT INTO words VALUES ('a')").ok());
  }
  std::string Content() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static int64_t Number(const Database& database, const char* sql) {
    Statement statement(database, sql);
    const auto has_row = statement.Step();
    EXPECT_TRUE(has_row.ok() && *has_row) << has_row.status();
    return statement.Number(0);
  }
};

TEST_F(DatabaseTest, IsWrittenAllOrNothing) {
  const auto database = Open(kOne);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status failed = (*database)->Transact([&] {
    EXPECT_TRUE((*database)->Execute("INSERT INTO words VALUES ('a')").ok());
    return (*database)->Execute("INSERT INTO nowhere VALUES (1)");
  });
  EXPECT_THAT(std::string(failed.message()),
              AllOf(HasSubstr(path()), HasSubstr("nowhere")));
  EXPECT_EQ(Number(**database, "SELECT count(*) FROM words"), 0);
  EXPECT_TRUE((*database)
                  ->Transact([&] {
                    return (*database)->Execute(
                        "INSERT INTO words VALUES ('b')");
                  })
                  .ok());
  EXPECT_EQ(Number(**database, "SELECT count(*) FROM words"), 1);
  EXPECT_EQ(Number(**database, "PRAGMA synchronous"), 2);
}

TEST_F(DatabaseTest, OnlyItsUserReadsIt) {
  const auto database = Open(kOne);
  ASSERT_TRUE((*database)->Execute("INSERT INTO words VALUES ('a')").ok());
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    struct stat information = {};
    ASSERT_EQ(stat(entry.path().c_str(), &information), 0);
    EXPECT_EQ(information.st_mode & 0777, 0600) << entry.path();
  }
}

TEST_F(DatabaseTest, AnEarlierVersionIsCopiedAndMigrated) {
  Create();
  // What a try that was cut off has left.
  std::ofstream(path() + ".backup-1.tmp") << "half";
  {
    const auto database = Open(kTwo);
    ASSERT_TRUE(database.ok()) << database.status();
    EXPECT_EQ(Number(**database, "SELECT count FROM words"), 5);
    EXPECT_EQ(Number(**database, "PRAGMA user_version"), 2);
  }
  EXPECT_FALSE(std::filesystem::exists(path() + ".backup-1.tmp"));
  struct stat information = {};
  ASSERT_EQ(stat((path() + ".backup-1").c_str(), &information), 0);
  EXPECT_EQ(information.st_mode & 0777, 0600);

  const auto backup = Database::Open(path() + ".backup-1", {kId, kOne});
  ASSERT_TRUE(backup.ok()) << backup.status();
  EXPECT_EQ(Number(**backup, "SELECT count(*) FROM words"), 1);
  // Not migrated again.
  std::filesystem::remove(path() + ".backup-1");
  EXPECT_TRUE(Open(kTwo).ok());
  EXPECT_FALSE(std::filesystem::exists(path() + ".backup-1"));
}

TEST_F(DatabaseTest, AMigrationThatFailsChangesNothing) {
  Create();
  EXPECT_FALSE(Open(kWrong).ok());
  const auto database = Open(kOne);
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(
      Number(**database, "SELECT count(*) FROM pragma_table_info('words')"), 1);
}

TEST_F(DatabaseTest, ALaterVersionIsRefused) {
  ASSERT_TRUE(Open(kTwo).ok());
  const std::string before = Content();
  const auto database = Open(kOne);
  EXPECT_EQ(database.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(database.status().message()),
      AllOf(HasSubstr(path()), HasSubstr("version 2"), HasSubstr("up to 1")));
  EXPECT_EQ(Content(), before);
}

TEST_F(DatabaseTest, AnotherProgramsFileIsRefused) {
  RunSql(path(), "CREATE TABLE theirs (a INTEGER)");
  const std::string before = Content();
  const auto database = Open(kOne);
  EXPECT_EQ(database.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(database.status().message()),
              AllOf(HasSubstr(path()), HasSubstr("another program")));
  EXPECT_EQ(Content(), before);

  std::filesystem::remove(path());
  Create();
  EXPECT_EQ(Open(kOne, kId + 1).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(DatabaseTest, WhatIsNoDatabaseIsRefused) {
  std::ofstream(path()) << std::string(5000, 'x');
  const auto database = Open(kOne);
  EXPECT_EQ(database.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(database.status().message()), HasSubstr(path()));
  EXPECT_EQ(Content(), std::string(5000, 'x'));
  EXPECT_EQ(Database::Open(Path("no/such/folder"), {kId, kOne}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(DatabaseTest, DamageIsFound) {
  {
    const auto database = Open(kOne);
    ASSERT_TRUE((*database)
                    ->Execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                              " SELECT i + 1 FROM n WHERE i < 5000)"
                              " INSERT INTO words SELECT hex(i) FROM n")
                    .ok());
  }
  const std::string whole = Content();
  ASSERT_GT(whole.size(), 5 * 4096u);
  {
    std::string damaged = whole;
    damaged.replace(3 * 4096, 4096, std::string(4096, '\x5a'));
    std::ofstream(path(), std::ios::binary) << damaged;
    const auto database = Open(kOne);
    EXPECT_EQ(database.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(database.status().message()), HasSubstr(path()));
  }
  std::ofstream(path(), std::ios::binary) << whole.substr(0, 3 * 4096);
  EXPECT_EQ(Open(kOne).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DatabaseTest, BelongsToOneProcess) {
  auto first = Open(kOne);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Open(kOne);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr(path()), HasSubstr("another process")));

  const pid_t child = fork();
  if (child == 0) {
    const bool is_refused =
        Open(kOne).status().code() == absl::StatusCode::kFailedPrecondition;
    _exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);

  first->reset();
  EXPECT_TRUE(Open(kOne).ok());
}

}  // namespace
}  // namespace paceline
