// Finds the datasets of an HDF5 file.
//
// Reads what h5py writes by default, and so what Keras writes: a superblock of
// version 0 or 1, groups with symbol tables, object headers of version 1, and
// contiguous datasets. Whatever else the format has is refused by name: filters
// and chunks, external files, soft links, datatypes stored elsewhere, objects
// of newer versions (libver="latest").
//
// The file is hostile. Every address, size and count is checked before it is
// used. No block may begin where another does, and together they may be no
// larger than the file; so links cannot make circles, and the work is linear in
// the size of the file. Nesting has a limit.
//
// Why not HDF5's own library: docs/design/keras_files.md.
#ifndef PACELINE_COMMON_HDF5_HDF5_INDEX_H_
#define PACELINE_COMMON_HDF5_HDF5_INDEX_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/random_access.h"
#include "common/hdf5/hdf5_format.h"

namespace paceline {

// By path, such as "layers/conv2d/vars/0".
using Hdf5Index = std::map<std::string, Hdf5Dataset>;

// The elements of all datasets lie within the file. Errors name the path in the
// file, but not the file: InvalidArgument if it is no HDF5, DataLoss if it is
// damaged, Unimplemented for a part of the format that is not read,
// ResourceExhausted above a limit.
absl::StatusOr<Hdf5Index> ReadHdf5Index(RandomAccess& file);

}  // namespace paceline

#endif  // PACELINE_COMMON_HDF5_HDF5_INDEX_H_
