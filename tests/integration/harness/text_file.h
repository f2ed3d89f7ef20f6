// Files in tests.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_TEXT_FILE_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_TEXT_FILE_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace paceline {

// "" if the file does not exist.
std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);

// A discarded value if the file does not exist or is no JSON.
nlohmann::json ReadJson(const std::string& path);

// The non-empty lines of `text`.
std::vector<std::string> Lines(const std::string& text);

// A folder for a test, deleted afterwards unless the test failed.
class TestFolder {
 public:
  TestFolder();
  TestFolder(const TestFolder&) = delete;
  ~TestFolder();

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_TEXT_FILE_H_
