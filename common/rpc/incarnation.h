// Distinguishes the lives of a task's processes.
#ifndef PACELINE_COMMON_RPC_INCARNATION_H_
#define PACELINE_COMMON_RPC_INCARNATION_H_

#include <cstdint>

namespace paceline {

// A random number, never 0. Draw it once at the start of a process.
uint64_t DrawIncarnation();

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_INCARNATION_H_
