#include "tests/integration/harness/text_file.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "gtest/gtest.h"

namespace paceline {

std::string ReadText(const std::string& path) {
  const std::ifstream in(path, std::ios::binary);
  // Does not throw where a process ends while its file is read.
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  CHECK(out.flush()) << "cannot write " << path;
}

nlohmann::json ReadJson(const std::string& path) {
  return nlohmann::json::parse(ReadText(path), nullptr,
                               /*allow_exceptions=*/false);
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, absl::ByAnyChar("\r\n"), absl::SkipEmpty());
}

TestFolder::TestFolder() : path_(testing::TempDir() + "paceline-XXXXXX") {
  CHECK(mkdtemp(path_.data()) != nullptr) << "cannot make " << path_;
}

TestFolder::~TestFolder() {
  if (testing::Test::HasFailure()) {
    std::cerr << "files of the failed test: " << path_ << "\n";
    return;
  }
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace paceline
