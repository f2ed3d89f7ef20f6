// A cache in a folder of its own.
#ifndef PACELINE_TESTS_UNIT_REMOTE_FILE_FETCH_FIXTURE_H_
#define PACELINE_TESTS_UNIT_REMOTE_FILE_FETCH_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/identity/sha256.h"
#include "common/remote_file/remote_files.h"
#include "glog/logging.h"
#include "tests/http_server/http_server.h"

namespace paceline {

class FetchTest : public testing::Test {
 protected:
  FetchTest() {
    options_.folder = testing::TempDir() + "/remote-XXXXXX";
    CHECK(mkdtemp(options_.folder.data()) != nullptr);
    options_.limit_bytes = 10 << 20;
    // Tests of servers that are given up have less.
    options_.network.patience = absl::Seconds(5);
  }
  ~FetchTest() override { std::filesystem::remove_all(options_.folder); }

  absl::StatusOr<CachedFile> Fetch(const std::string& url) const {
    return RemoteFiles(options_).Fetch(url);
  }
  // The content of what is fetched, Brief if it is long; or the error.
  std::string ContentOf(const std::string& url) const {
    const absl::StatusOr<CachedFile> file = Fetch(url);
    return file.ok()
               ? Brief(ReadFile(file->path(), 100 << 20).value_or("unreadable"))
               : file.status().ToString();
  }
  static std::string Brief(const std::string& content) {
    return content.size() <= 100
               ? content
               : absl::StrCat(content.size(), " bytes, ", Sha256Hex(content));
  }

  // `size` bytes that tell positions apart.
  static std::string Bytes(size_t size) {
    std::string bytes(size, 0);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i >> 7);
    return bytes;
  }

  RemoteFilesOptions options_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_REMOTE_FILE_FETCH_FIXTURE_H_
