// What tells two lives of a process apart.
#ifndef PACELINE_COMMON_RPC_INCARNATION_H_
#define PACELINE_COMMON_RPC_INCARNATION_H_

#include <cstdint>

namespace paceline {

// A random number that is never 0; drawn once at the start of a process.
uint64_t DrawIncarnation();

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_INCARNATION_H_
