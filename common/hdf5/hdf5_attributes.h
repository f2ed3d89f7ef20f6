// The texts that the root of an HDF5 file has as attributes.
#ifndef PACELINE_COMMON_HDF5_HDF5_ATTRIBUTES_H_
#define PACELINE_COMMON_HDF5_HDF5_ATTRIBUTES_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/random_access.h"

namespace paceline {

// Those attributes of the root that have one of `names` and are one string, by
// name. The file is hostile; errors are those of ReadHdf5Index.
absl::StatusOr<std::map<std::string, std::string>> ReadHdf5Texts(
    RandomAccess& file, const std::set<std::string>& names);

}  // namespace paceline

#endif  // PACELINE_COMMON_HDF5_HDF5_ATTRIBUTES_H_
