#include "tests/unit/data_source/idx_files.h"

#include <zlib.h>

#include <fstream>

#include "glog/logging.h"
#include "gtest/gtest.h"

namespace paceline {

std::string IdxBytes(int type_code, const std::vector<uint32_t>& dimensions,
                     const std::string& values) {
  std::string bytes = {0, 0, static_cast<char>(type_code),
                       static_cast<char>(dimensions.size())};
  for (const uint32_t size : dimensions) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(size >> shift & 0xFF));
    }
  }
  return bytes + values;
}

std::string WriteTestFile(const std::string& name, const std::string& bytes) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string path = testing::TempDir() + test->test_suite_name() + "." +
                     test->name() + "." + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string Gzip(const std::string& bytes) {
  const std::string path = WriteTestFile("gzip", "");
  gzFile file = gzopen(path.c_str(), "wb");
  CHECK_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
           static_cast<int>(bytes.size()));
  CHECK_EQ(gzclose(file), Z_OK);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace paceline
