// IDX files for tests.
#ifndef PACELINE_TESTS_UNIT_DATA_SOURCE_IDX_FILES_H_
#define PACELINE_TESTS_UNIT_DATA_SOURCE_IDX_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace paceline {

// The bytes of an IDX file with these dimensions and values (big-endian).
std::string IdxBytes(int type_code, const std::vector<uint32_t>& dimensions,
                     const std::string& values);

// Writes `bytes` to a file in the test's folder and returns its path.
std::string WriteTestFile(const std::string& name, const std::string& bytes);

// `bytes` compressed with gzip.
std::string Gzip(const std::string& bytes);

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DATA_SOURCE_IDX_FILES_H_
