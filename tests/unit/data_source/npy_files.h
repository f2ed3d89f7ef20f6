// The bytes of .npy files for tests.
#ifndef PACELINE_TESTS_UNIT_DATA_SOURCE_NPY_FILES_H_
#define PACELINE_TESTS_UNIT_DATA_SOURCE_NPY_FILES_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace paceline {

// An array of version 1, of this shape as Python writes it: "(3, 2)".
inline std::string NpyBytes(const std::string& shape, const std::string& values,
                            const std::string& descr = "|u1") {
  const std::string header =
      absl::StrCat("{'descr': '", descr,
                   "', 'fortran_order': False, 'shape': ", shape, ", }\n");
  const auto size = static_cast<uint16_t>(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(size & 0xFF));
  bytes.push_back(static_cast<char>(size >> 8));
  return bytes + header + values;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DATA_SOURCE_NPY_FILES_H_
