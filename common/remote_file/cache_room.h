// Room in the cache.
#ifndef PACELINE_COMMON_REMOTE_FILE_CACHE_ROOM_H_
#define PACELINE_COMMON_REMOTE_FILE_CACHE_ROOM_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace paceline {

// Promises `bytes` of room to the part of the entry `own`, in place of what it
// had, by OWN/part.room, until it is complete or dropped. Removes the least
// recently used files of the cache until those that are left and all promises
// together are at most `limit`. What a process uses stays, and so does what is
// in an entry whose lock another one has. ResourceExhausted, with both numbers,
// if that is too much. Whoever calls it has the lock of `own`; several
// processes may: one after the other. Looks at the cache's folders and removes
// files, but does not wait until the disk has something.
absl::Status MakeRoom(const std::string& cache, const std::string& own,
                      int64_t bytes, int64_t limit, absl::Duration patience);

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_CACHE_ROOM_H_
