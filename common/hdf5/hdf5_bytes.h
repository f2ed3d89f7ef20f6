// How our writer of HDF5 puts bytes together.
#ifndef PACELINE_COMMON_HDF5_HDF5_BYTES_H_
#define PACELINE_COMMON_HDF5_HDF5_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace paceline::hdf5 {

// In `count` bytes, the lowest first.
inline void AppendNumber(std::string& bytes, uint64_t number, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
}

inline int64_t RoundUpTo8(int64_t size) { return (size + 7) / 8 * 8; }

// Adds zeros until the size is a multiple of 8.
inline void PadTo8(std::string& bytes) {
  bytes.resize(RoundUpTo8(static_cast<int64_t>(bytes.size())));
}

}  // namespace paceline::hdf5

#endif  // PACELINE_COMMON_HDF5_HDF5_BYTES_H_
