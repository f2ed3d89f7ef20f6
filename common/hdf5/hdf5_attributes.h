// The texts that the root of an HDF5 file has as attributes.
#ifndef PACELINE_COMMON_HDF5_HDF5_ATTRIBUTES_H_
#define PACELINE_COMMON_HDF5_HDF5_ATTRIBUTES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/random_access.h"

namespace paceline {

// By name. Leaves out attributes of other types than one string. The file is
// hostile; errors are those of ReadHdf5Index.
absl::StatusOr<std::map<std::string, std::string>> ReadHdf5Texts(
    RandomAccess& file);

}  // namespace paceline

#endif  // PACELINE_COMMON_HDF5_HDF5_ATTRIBUTES_H_
