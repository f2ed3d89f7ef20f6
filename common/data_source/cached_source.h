// Sources that keep examples once they have been read, as tf.data's `cache()`
// does.
#ifndef PACELINE_COMMON_DATA_SOURCE_CACHED_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_CACHED_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"

namespace paceline {

// Reads each example of `source` once, whichever reader comes first; an example
// that cannot be read is tried again each time. The cache takes the values of
// all examples in their stored types and a byte for each, of which the system
// gives only what is written. ResourceExhausted if that is more than the
// process may use (usable_memory.h), whatever else it holds.
absl::StatusOr<std::unique_ptr<const DataSource>> CacheInMemory(
    std::unique_ptr<const DataSource> source);

// Keeps the examples in a file (cache_file.h), which other processes and later
// runs read, too. Examples whose bytes are wrong (DataLoss, InvalidArgument)
// are remembered with their errors; others that cannot be read are tried again.
// A full disk ends the writing with a warning, not the reading. `fingerprint`:
// SourceFingerprint of the source. A reader takes the memory of an example.
// Errors are those of CacheFile::Open.
absl::StatusOr<std::unique_ptr<const DataSource>> CacheInFile(
    std::unique_ptr<const DataSource> source, const std::string& path,
    const std::string& fingerprint);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CACHED_SOURCE_H_
