// Lays out an HDF5 file before its elements are known, so that it can be
// written from its start to its end in one pass.
//
//   0                              data_begin()          size_bytes()
//   | superblock, texts, groups    | elements of dataset 0, 1, ... |
//
// The file is what h5py writes by default: a superblock of version 0, groups
// with symbol tables, object headers of version 1, and contiguous datasets.
#ifndef PACELINE_COMMON_HDF5_HDF5_LAYOUT_H_
#define PACELINE_COMMON_HDF5_HDF5_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/hdf5/hdf5_attribute_writer.h"
#include "common/hdf5/hdf5_format.h"
#include "common/tensor/shape.h"

namespace paceline {

struct Hdf5Entry {
  // Such as "layers/conv2d/vars/0". Groups follow from the paths.
  std::string path;
  // A float or an integer.
  Hdf5Type type;
  Shape shape;
};

// Immutable; thread-safe.
class Hdf5Layout {
 public:
  // Paths must be unique, and none may be the folder of another. The file has
  // `groups` even if nothing is in them. Attributes may be of the root and of
  // groups, and need not outlive the call.
  explicit Hdf5Layout(absl::Span<const Hdf5Entry> entries,
                      absl::Span<const std::string> groups = {},
                      absl::Span<const Hdf5Attribute> attributes = {});

  // Everything before the elements.
  const std::string& head() const { return head_; }
  int64_t data_begin() const { return static_cast<int64_t>(head_.size()); }

  // Where the elements of an entry begin. They follow each other in the order
  // of the entries; up to 7 bytes of padding are between them.
  int64_t offset_bytes(size_t entry) const {
    return data_begin() + offsets_[entry];
  }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  std::string head_;
  // Relative to data_begin().
  std::vector<int64_t> offsets_;
  int64_t size_bytes_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_HDF5_HDF5_LAYOUT_H_
