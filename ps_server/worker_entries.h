// What a shard's file says of workers.
#ifndef PACELINE_PS_SERVER_WORKER_ENTRIES_H_
#define PACELINE_PS_SERVER_WORKER_ENTRIES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/safetensors/safetensors.h"

namespace paceline {

// Of one chunk; see Aggregator::Save.
using WorkerEntries = std::map<std::string, std::string>;

// The metadata about the workers of these chunks. An entry on which all chunks
// agree is stored once; that is every entry, unless a worker was lost in the
// middle of a step. Other entries are stored per chunk, with a prefix.
SafetensorsMetadata JoinWorkerEntries(const std::vector<WorkerEntries>& chunks);

// The entries of each chunk. Keys without the prefix of a chunk go to all
// chunks, also those that are not about workers; those of a chunk that there is
// not are left out.
std::vector<WorkerEntries> SplitWorkerEntries(const SafetensorsMetadata& joined,
                                              size_t chunk_count);

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_WORKER_ENTRIES_H_
