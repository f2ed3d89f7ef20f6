// Files of tests.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_TEXT_FILE_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_TEXT_FILE_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace paceline {

// "" if there is no such file.
std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);

// A discarded value if there is no such file, or no JSON in it.
nlohmann::json ReadJson(const std::string& path);

// Lines of `text` that are not empty.
std::vector<std::string> Lines(const std::string& text);

// A folder of its own for a test, deleted afterwards unless the test failed.
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
