// A folder for the stores of a test.
#ifndef PACELINE_TESTS_UNIT_STORE_STORE_FIXTURE_H_
#define PACELINE_TESTS_UNIT_STORE_STORE_FIXTURE_H_

#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + info->test_suite_name() + "." +
              info->name() + "." + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // Runs SQL as another program would.
  static void RunSql(const std::string& path, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  std::string folder_;
};

inline v1::JobRecord JobNamed(const std::string& id, uint64_t number) {
  v1::JobRecord record;
  record.set_id(id);
  record.set_number(number);
  return record;
}

inline v1::DaemonRecord DaemonNamed(const std::string& name,
                                    uint64_t incarnation) {
  v1::DaemonRecord record;
  record.set_name(name);
  record.set_incarnation(incarnation);
  return record;
}

inline v1::JobFile FileOf(const std::string& path, const std::string& sha256,
                          uint64_t size) {
  v1::JobFile file;
  file.set_path(path);
  file.set_sha256(sha256);
  file.set_size_bytes(size);
  return file;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_STORE_STORE_FIXTURE_H_
