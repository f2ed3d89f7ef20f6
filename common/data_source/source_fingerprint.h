// What tells whether examples are still those that a cache has.
#ifndef PACELINE_COMMON_DATA_SOURCE_SOURCE_FINGERPRINT_H_
#define PACELINE_COMMON_DATA_SOURCE_SOURCE_FINGERPRINT_H_

#include <string>

#include "common/data_source/data_source.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// A hash, in 64 hexadecimal digits, of what the values of a data set's examples
// depend on: what the job says of the source (not of steps, order, and so on),
// the names, sizes and times of modification of all files, the number of
// examples, and their arrays. Files may lie in other folders. Of a file that
// came by a URL, the hash of its content counts, not the time when it came.
//
// `named` has the files as the job names them, and `opened`, from which
// `source` was opened, those of this machine. Looks at the state of each file;
// blocks on the file system.
//
// Whoever reads files whole as they are opened compares FilesFingerprint before
// and after that: the values may be those of a file that was replaced since.
std::string SourceFingerprint(const v1::Dataset& named,
                              const v1::Dataset& opened,
                              const DataSource& source);

// The part of it that the files have which the data set names, folders
// excepted.
std::string FilesFingerprint(const v1::Dataset& named,
                             const v1::Dataset& opened);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_SOURCE_FINGERPRINT_H_
